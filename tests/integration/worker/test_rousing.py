"""Rousing through a real Temporal: what is wedged is replaced, what waits its turn is not."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError
from temporalio.worker import Worker

from tests.integration.worker import wedges
from tests.integration.worker.conftest import DEADLINE_S, ROOT
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.sweeping import Suspect
from turnwright.worker.rousing import EngineAway, TemporalRouser
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import thread_workflow_id, turn_workflow_id
from turnwright.workflows.waking import Waker

KEY = ThreadKey("t", None, "agent", "s", "main")
QUEUE = "q"
STICKY_S = 600  # far beyond the deadline of a test: only a reset gets a task off a dead worker's queue
WORKER = f"""
import asyncio, sys
from datetime import timedelta
from temporalio.client import Client
from temporalio.worker import Worker
from tests.integration.worker import wedges

async def main():
    client = await Client.connect(sys.argv[1])
    sticky = timedelta(seconds={STICKY_S})
    await Worker(
        client, task_queue={QUEUE!r}, workflows=[wedges.Counting], sticky_queue_schedule_to_start_timeout=sticky
    ).run()

asyncio.run(main())
"""


@pytest.fixture
async def server() -> AsyncIterator[TemporalServer]:
    async with TemporalServer() as running:
        yield running


@pytest.fixture
async def client(server: TemporalServer) -> Client:
    return await server.connect()


@pytest.fixture
def rouser(client: Client) -> TemporalRouser:
    return TemporalRouser(Waker(client, "journal", QUEUE))


def suspect(wakes: int = 1, turn: str | None = "t-1") -> Suspect:
    return Suspect(KEY, 1, 1, turn, epoch=1, wakes=wakes, why="stalled")


def turn_of(client: Client) -> WorkflowHandle[object, object]:
    return client.get_workflow_handle(turn_workflow_id("journal", KEY, "t-1"))


@asynccontextmanager
async def working(client: Client, turn: type) -> AsyncIterator[None]:
    activities = [wedges.hanging_at_first]
    async with Worker(client, task_queue=QUEUE, workflows=[turn, wedges.Thread], activities=activities):
        yield


async def run_of(client: Client) -> str:
    found = await turn_of(client).describe()
    assert found.run_id is not None
    return found.run_id


async def start_turn(client: Client, rouser: TemporalRouser) -> str:
    await rouser.waker.turn(KEY, "t-1", 1)
    return await run_of(client)


async def until_task_has_failed(client: Client, times: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await turn_of(client).describe()).raw_description.pending_workflow_task.attempt < times:
            await asyncio.sleep(0.05)


async def until_idle(client: Client) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await turn_of(client).describe()).raw_description.HasField("pending_workflow_task"):
            await asyncio.sleep(0.05)


async def test_a_first_wake_up_wakes_the_thread_and_starts_nothing_else(client: Client, rouser: TemporalRouser) -> None:
    await rouser.rouse(suspect())
    thread = await client.get_workflow_handle(thread_workflow_id("journal", KEY)).describe()
    assert thread.workflow_type == "Thread"
    assert [found.workflow_type async for found in client.list_workflows("WorkflowType = 'Turn'")] == []


async def test_a_turn_whose_workflow_runs_is_woken_without_its_thread_once_and_with_it_later(
    client: Client, rouser: TemporalRouser
) -> None:
    await start_turn(client, rouser)
    thread = client.get_workflow_handle(thread_workflow_id("journal", KEY))
    await rouser.rouse(suspect(wakes=1))
    with pytest.raises(RPCError, match="not found"):
        await thread.describe()
    await rouser.rouse(suspect(wakes=2))
    assert (await thread.describe()).workflow_type == "Thread"
    events = (await turn_of(client).fetch_history()).events
    assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in events) == 3


async def test_after_two_useless_wake_ups_a_turn_that_is_gone_is_started_past_its_thread(
    client: Client, rouser: TemporalRouser
) -> None:
    await rouser.rouse(suspect(wakes=3))
    assert await run_of(client)


async def test_a_turn_whose_code_raises_is_replaced(client: Client, rouser: TemporalRouser) -> None:
    async with working(client, wedges.Raising):
        run = await start_turn(client, rouser)
        await until_task_has_failed(client, 3)
        await rouser.rouse(suspect(wakes=2))
        assert await run_of(client) == run
        await rouser.rouse(suspect(wakes=3))
        assert await run_of(client) != run


async def test_a_turn_that_hears_nothing_is_replaced(client: Client, rouser: TemporalRouser) -> None:
    async with working(client, wedges.Deaf):
        run = await start_turn(client, rouser)
        await until_idle(client)
        await rouser.rouse(suspect(wakes=3))
        assert await run_of(client) != run


async def test_a_turn_whose_activity_waits_for_a_free_worker_keeps_its_place(
    client: Client, rouser: TemporalRouser
) -> None:
    async with working(client, wedges.Starved):
        run = await start_turn(client, rouser)
        await until_idle(client)
        await rouser.rouse(suspect(wakes=9))
        assert await run_of(client) == run


async def test_a_turn_whose_task_waits_for_a_free_worker_keeps_its_place(
    client: Client, rouser: TemporalRouser
) -> None:
    run = await start_turn(client, rouser)
    await rouser.rouse(suspect(wakes=9))
    assert await run_of(client) == run


async def test_a_turn_on_a_task_queue_that_was_given_up_moves_to_the_one_of_today(
    client: Client, rouser: TemporalRouser
) -> None:
    before = TemporalRouser(Waker(client, "journal", "the queue of yesterday"))
    run = await start_turn(client, before)
    await before.waker.thread(KEY)
    await rouser.rouse(suspect(wakes=2))
    assert await run_of(client) == run
    await rouser.rouse(suspect(wakes=3))
    assert await run_of(client) != run
    thread = client.get_workflow_handle(thread_workflow_id("journal", KEY))
    assert {(await handle.describe()).task_queue for handle in (turn_of(client), thread)} == {QUEUE}


async def test_an_urgent_wake_up_replaces_nothing(client: Client, rouser: TemporalRouser) -> None:
    async with working(client, wedges.Deaf):
        run = await start_turn(client, rouser)
        await until_idle(client)
        uncounted = Suspect(KEY, 1, 1, "t-1", epoch=1, wakes=3, why="due", counted=False)
        await rouser.rouse(uncounted)
        assert await run_of(client) == run


async def test_a_turn_on_a_killed_worker_goes_on_without_waiting_for_its_sticky_queue(
    server: TemporalServer, client: Client, rouser: TemporalRouser
) -> None:
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, server.address, cwd=ROOT)
    await start_turn(client, rouser)
    await until_idle(client)
    worker.kill()
    await worker.wait()
    async with working(client, wedges.Counting):
        await rouser.rouse(suspect())
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(client).result() == 2


async def test_an_operation_that_died_with_its_worker_is_with_another_and_its_workflow_was_not_asked(
    client: Client, rouser: TemporalRouser
) -> None:
    async with working(client, wedges.Calling):
        run = await start_turn(client, rouser)
        activity_id = await id_of_started_activity(client)
        orphan = replace(suspect(), urgent=True, orphans=(f"{run}/{activity_id}/1",))
        assert await rouser.rouse(orphan) is None
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(client).result() == [2, 1]  # the signal is that of its start


@pytest.mark.parametrize("nonce", ["{run}/unknown/1", "{other}/{activity}/1", "none", ""])
async def test_who_has_no_operation_to_hand_on_is_woken(client: Client, rouser: TemporalRouser, nonce: str) -> None:
    async with working(client, wedges.Calling):
        run = await start_turn(client, rouser)
        activity_id = await id_of_started_activity(client)
        other = "00000000-0000-4000-8000-000000000000"
        said = nonce.format(run=run, activity=activity_id, other=other)
        await rouser.rouse(replace(suspect(), urgent=True, orphans=(said,)))
        again = replace(suspect(wakes=2), urgent=True, orphans=(f"{run}/{activity_id}/1",))
        await rouser.rouse(again)  # who was handed on and did not move is woken, too
        await client.get_workflow_handle(turn_of(client).id).signal("done")
        await rouser.rouse(replace(again, wakes=1))
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(client).result() == [2, 4]


async def id_of_started_activity(client: Client) -> str:
    """The id of the turn's activity, once a worker has it."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for pending in (await turn_of(client).describe()).raw_description.pending_activities:
                if pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED:
                    return str(pending.activity_id)
            await asyncio.sleep(0.05)


async def test_a_server_that_is_down_is_said_to_be_away(server: TemporalServer, rouser: TemporalRouser) -> None:
    await server.stop()
    with pytest.raises(EngineAway):
        await rouser.rouse(suspect())
    await server.start()
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                await rouser.rouse(suspect())
                break
            except EngineAway:
                await asyncio.sleep(0.1)


async def test_a_missing_namespace_is_said_to_be_away(server: TemporalServer) -> None:
    client = await Client.connect(server.address, namespace="nowhere", lazy=True)
    with pytest.raises(EngineAway):
        await TemporalRouser(Waker(client, "journal", QUEUE)).rouse(suspect())


def of_a_death() -> Suspect:
    """As a sweeper sees a thread right after a worker died."""
    return Suspect(KEY, 1, 1, "t-1", epoch=1, wakes=1, why="due", counted=False, urgent=True)


async def test_a_task_on_a_killed_worker_s_own_queue_is_taken_off_it_by_the_second_look(
    server: TemporalServer, client: Client, rouser: TemporalRouser
) -> None:
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, server.address, cwd=ROOT)
    run = await start_turn(client, rouser)
    await until_idle(client)
    worker.kill()
    await worker.wait()
    await rouser.waker.nudge_turn(KEY, "t-1")
    look = await rouser.rouse(of_a_death())
    assert look is not None
    await look()
    assert await run_of(client) != run


async def test_a_task_on_the_common_queue_is_left_to_who_has_yet_to_take_it(
    client: Client, rouser: TemporalRouser
) -> None:
    run = await start_turn(client, rouser)
    look = await rouser.rouse(of_a_death())
    assert look is not None
    await look()
    assert await run_of(client) == run
