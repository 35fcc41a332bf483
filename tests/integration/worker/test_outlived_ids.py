"""A worker that was frozen while its journal got a new id works on under the new one."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.integration.runtime.scripts import say
from tests.integration.worker.stack import Stack, until
from turnwright.journal.errors import CommandRejected
from turnwright.journal.store import Journal
from turnwright.worker.incarnation import begin_incarnation, end_earlier
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.engine import identify
from turnwright.workflows.ids import default_task_queue
from turnwright.workflows.waking import Waker

pytestmark = pytest.mark.slow


@pytest.fixture
async def stack(tmp_path: Path, sqlite_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, sqlite_url, temporal) as stack:
        yield stack


async def test_a_worker_that_was_frozen_while_its_journal_got_a_new_id_works_under_that_alone(stack: Stack) -> None:
    worker = await stack.ready_worker(lease_s=1)
    temporal, journal = await stack.server.connect(), await Journal.open(stack.journal_url)
    try:
        assert (await (await stack.submit(say("before"))).result(timeout_s=30)).text == "before"
        worker.send(signal.SIGSTOP)
        before = await renewed(journal)
        await end_earlier(temporal, await identify(temporal), journal.driver)
        turn = await stack.submit(say("after"))
        # The last word of the frozen worker, before it finds out.
        await Waker(temporal, before, default_task_queue(before)).thread(turn.key)
        worker.send(signal.SIGCONT)
        assert (await turn.result(timeout_s=30)).text == "after"
        assert before in (await worker.until_said("journal_renamed"))["error"]

        async def begun_again() -> bool:
            return len(worker.said("worker_ready")) > 1 and not await running(temporal, before)

        await until(begun_again)
        now = await journal.journal_id()
        assert [said["task_queue"] for said in worker.said("worker_ready")] == [
            default_task_queue(one) for one in (before, now)
        ]
        assert [seen.info["task_queue"] for seen in await journal.driver.presences()] == [default_task_queue(now)]
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0
        assert len(worker.said("worker_stopped")) == 1
    finally:
        await journal.close()


async def renewed(journal: Journal) -> str:
    """Give the journal a new id once its worker counts as frozen; the id of before."""

    async def done() -> bool:
        try:
            earlier.append((await begin_incarnation(journal)).earlier)
        except CommandRejected:
            return False
        return True

    earlier: list[str] = []
    await until(done)
    return earlier[0]


async def running(temporal: Client, journal_id: str) -> list[str]:
    found = temporal.list_workflows(f"WorkflowId STARTS_WITH 'tw/{journal_id}/' AND ExecutionStatus = 'Running'")
    return [workflow.id async for workflow in found]
