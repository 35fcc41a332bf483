"""What a worker's log says of turns that wait or fail: one line each, and no stack of what is expected."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from tests.integration.worker.stack import Stack, until, until_shows
from turnwright.journal.errors import StoreUnavailable
from turnwright.worker.outages import Outages
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import turn_workflow_id


@pytest.fixture
async def stack(tmp_path: Path, sqlite_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, sqlite_url, temporal) as stack:
        yield stack


@pytest.mark.slow
async def test_a_turn_of_an_agent_nobody_knows_is_one_warning_however_often_it_is_tried(stack: Stack) -> None:
    worker = await stack.ready_worker()
    session = stack.client.session(None, "s")
    await session.create()
    turn = await session.submit("hello", agent="nobody")
    temporal = await stack.server.connect()
    journal_id = (await worker.until_said("worker_ready"))["task_queue"].removeprefix("turnwright-")
    handle = temporal.get_workflow_handle(turn_workflow_id(journal_id, turn.key, turn.id))

    async def tried_often() -> bool:
        pending = (await handle.describe()).raw_description.pending_activities
        return any(activity.attempt > 4 for activity in pending)

    await worker.until_said("agent_unknown")
    await until(tried_often)
    [said] = worker.said("agent_unknown")
    assert (said["level"], said["turn"], said["unknown"]) == ("warning", turn.id, "agent 'nobody'")
    log = worker.log_file.read_text(encoding="utf-8")
    assert "Completing activity as failed" not in log
    assert "exception" not in log


@pytest.mark.slow
async def test_a_turn_that_fails_is_one_warning_with_its_code(stack: Stack) -> None:
    worker = await stack.ready_worker()
    turn = await stack.submit({"fail": "invalid", "message": "no such model"})
    await until_shows(turn, "failed")
    said = await worker.until_said("turn_failed")
    status = await turn.status()
    assert (said["level"], said["turn"], said["thread"]) == ("warning", turn.id, turn.key.canonical)
    assert (said["code"], said["message"]) == (status.code, status.message)
    assert len(worker.said("turn_failed")) == 1


@pytest.mark.parametrize(
    "error", [StoreUnavailable("the database is away"), RPCError("connection refused", RPCStatusCode.UNAVAILABLE, b"")]
)
async def test_a_store_or_a_temporal_that_is_away_is_said_once_and_not_logged_by_the_sdk(error: Exception) -> None:
    class Away(ActivityInboundInterceptor):
        def __init__(self) -> None:
            pass

        async def execute_activity(self, input: ExecuteActivityInput) -> None:  # noqa: A002 - the SDK's name
            raise error

    activity = Outages(lambda: False).intercept_activity(Away())
    given = ExecuteActivityInput(fn=print, args=(), executor=None, headers={})
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(ApplicationError) as caught:
                await activity.execute_activity(given)
            assert caught.value.category is ApplicationErrorCategory.BENIGN
            assert (caught.value.type, caught.value.non_retryable) == (type(error).__name__, False)
    assert [line["event"] for line in logs] == ["activity_waits"]


@pytest.mark.parametrize("is_local", [False, True])
async def test_what_comes_to_a_worker_that_is_out_of_touch_with_the_store_is_given_back_unbegun(is_local: bool) -> None:
    begun: list[str] = []

    class Work(ActivityInboundInterceptor):
        def __init__(self) -> None:
            pass

        async def execute_activity(self, input: ExecuteActivityInput) -> None:  # noqa: A002 - the SDK's name
            begun.append("work")

    lapsed = True
    activity = Outages(lambda: lapsed).intercept_activity(Work())
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, is_local=is_local)
    given = ExecuteActivityInput(fn=print, args=(), executor=None, headers={})
    with pytest.raises(ApplicationError, match="out of touch") as caught:
        await environment.run(activity.execute_activity, given)
    assert caught.value.non_retryable is is_local, "locally it would be tried again right here"
    assert not begun
    lapsed = False
    await environment.run(activity.execute_activity, given)
    assert begun
