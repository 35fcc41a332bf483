import asyncio
import io
import json
from collections.abc import Iterator

import pytest
import structlog
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import Replayer, Worker

from tests.integration.logging_workflow import LoggingWorkflow
from turnwright.worker import temporal_client
from turnwright.worker.logs import configure_logs, forward_core_logs
from turnwright.worker.settings import Settings
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.sandbox import workflow_runner

WAKES = 3
DEADLINE_S = 60
RUNNER = workflow_runner()


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    before = structlog.get_config()
    stream = io.StringIO()
    configure_logs("json", "info", stream)
    yield stream
    structlog.configure(**before)


def logged(stream: io.StringIO) -> list[tuple[str, str | None, int | None]]:
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [(event["event"], event.get("turn_id"), event.get("number")) for event in events]


async def test_what_a_workflow_logs_appears_once_however_often_it_is_replayed(
    stream: io.StringIO, temporal: TemporalServer
) -> None:
    client = await temporal.connect()
    # Without a cache each task replays the workflow from its beginning.
    async with Worker(
        client,
        task_queue="logs",
        workflows=[LoggingWorkflow],
        workflow_runner=RUNNER,
        max_cached_workflows=0,
    ):
        handle = await client.start_workflow(LoggingWorkflow.run, WAKES, id="logs", task_queue="logs")
        for number in range(1, WAKES + 1):
            await handle.signal(LoggingWorkflow.wake)
            while await handle.query(LoggingWorkflow.count) < number:
                await asyncio.sleep(0.02)
        await handle.result()
    once = [("started", "t1", None), *(("woken", "t1", number) for number in range(1, WAKES + 1))]
    assert [line for line in logged(stream) if line[0] in {"started", "woken"}] == once
    assert [line[0] for line in logged(stream)].count("aside") == WAKES
    # A question is answered now, though its workflow was rebuilt for it.
    assert ("asked", None, None) in logged(stream)

    before = stream.getvalue()
    replayer = Replayer(workflows=[LoggingWorkflow], workflow_runner=RUNNER)
    await replayer.replay_workflow(await handle.fetch_history())
    assert stream.getvalue() == before


async def test_what_the_native_part_of_the_sdk_reports_is_structured_like_our_own_logs(
    stream: io.StringIO, mortal: TemporalServer
) -> None:
    runtime = Runtime(telemetry=TelemetryConfig(logging=forward_core_logs()))
    settings = Settings.load(temporal_address=mortal.address, temporal_environment=False)
    client = await temporal_client.connect(settings, runtime=runtime)
    async with Worker(client, task_queue="logs", workflows=[LoggingWorkflow], workflow_runner=RUNNER):
        mortal.kill()
        async with asyncio.timeout(DEADLINE_S):
            while "temporalio.core" not in stream.getvalue():
                await asyncio.sleep(0.02)
        await mortal.start()
    event = next(line for line in map(json.loads, stream.getvalue().splitlines()) if "logger" in line)
    assert (event["logger"], event["level"]) == ("temporalio.core", "warning")
    assert "Unavailable" in event["fields"]["error"]
