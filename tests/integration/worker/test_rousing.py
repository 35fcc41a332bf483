"""Rousing through a real Temporal: what is wedged is replaced, what waits its turn is not."""

import asyncio
import itertools
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
from tests.integration.worker.conftest import DEADLINE_S
from tests.integration.worker.stack import ROOT
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.sweeping import Suspect
from turnwright.worker.rousing import EngineAway, TemporalRouser
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import thread_workflow_id, turn_workflow_id
from turnwright.workflows.waking import Waker

KEY = ThreadKey("t", None, "agent", "s", "main")
_numbers = itertools.count(1)
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
        client, task_queue=sys.argv[2], workflows=[wedges.Counting], sticky_queue_schedule_to_start_timeout=sticky
    ).run()

asyncio.run(main())
"""


@pytest.fixture
async def rouser(temporal: TemporalServer) -> TemporalRouser:
    """Of a journal and a task queue that no other test has."""
    name = f"rousing-{next(_numbers)}"
    return TemporalRouser(Waker(await temporal.connect(), name, name))


def suspect(wakes: int = 1, turn: str | None = "t-1") -> Suspect:
    return Suspect(KEY, 1, 1, turn, epoch=1, wakes=wakes, why="stalled")


def turn_of(rouser: TemporalRouser) -> WorkflowHandle[object, object]:
    waker = rouser.waker
    return waker.client.get_workflow_handle(turn_workflow_id(waker.journal_id, KEY, "t-1"))


def thread_of(rouser: TemporalRouser) -> WorkflowHandle[object, object]:
    waker = rouser.waker
    return waker.client.get_workflow_handle(thread_workflow_id(waker.journal_id, KEY))


@asynccontextmanager
async def working(rouser: TemporalRouser, turn: type) -> AsyncIterator[None]:
    queue, activities = rouser.waker.task_queue, [wedges.hanging_at_first]
    async with Worker(rouser.waker.client, task_queue=queue, workflows=[turn, wedges.Thread], activities=activities):
        yield


async def mortal_worker(rouser: TemporalRouser, temporal: TemporalServer) -> asyncio.subprocess.Process:
    """One in a process of its own."""
    given = (sys.executable, "-c", WORKER, temporal.address, rouser.waker.task_queue)
    return await asyncio.create_subprocess_exec(*given, cwd=ROOT)


async def run_of(rouser: TemporalRouser) -> str:
    found = await turn_of(rouser).describe()
    assert found.run_id is not None
    return found.run_id


async def start_turn(rouser: TemporalRouser) -> str:
    await rouser.waker.turn(KEY, "t-1", 1)
    return await run_of(rouser)


async def until_task_has_failed(rouser: TemporalRouser, times: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await turn_of(rouser).describe()).raw_description.pending_workflow_task.attempt < times:
            await asyncio.sleep(0.05)


async def until_idle(rouser: TemporalRouser) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await turn_of(rouser).describe()).raw_description.HasField("pending_workflow_task"):
            await asyncio.sleep(0.05)


async def test_a_first_wake_up_wakes_the_thread_and_starts_nothing_else(rouser: TemporalRouser) -> None:
    await rouser.rouse(suspect())
    assert (await thread_of(rouser).describe()).workflow_type == "Thread"
    with pytest.raises(RPCError, match="not found"):
        await turn_of(rouser).describe()


async def test_a_turn_whose_workflow_runs_is_woken_without_its_thread_once_and_with_it_later(
    rouser: TemporalRouser,
) -> None:
    await start_turn(rouser)
    thread = thread_of(rouser)
    await rouser.rouse(suspect(wakes=1))
    with pytest.raises(RPCError, match="not found"):
        await thread.describe()
    await rouser.rouse(suspect(wakes=2))
    assert (await thread.describe()).workflow_type == "Thread"
    events = (await turn_of(rouser).fetch_history()).events
    assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in events) == 3


async def test_after_two_useless_wake_ups_a_turn_that_is_gone_is_started_past_its_thread(
    rouser: TemporalRouser,
) -> None:
    await rouser.rouse(suspect(wakes=3))
    assert await run_of(rouser)


async def test_a_turn_whose_code_raises_is_replaced(rouser: TemporalRouser) -> None:
    async with working(rouser, wedges.Raising):
        run = await start_turn(rouser)
        await until_task_has_failed(rouser, 3)
        await rouser.rouse(suspect(wakes=2))
        assert await run_of(rouser) == run
        await rouser.rouse(suspect(wakes=3))
        assert await run_of(rouser) != run


async def test_a_turn_that_hears_nothing_is_replaced(rouser: TemporalRouser) -> None:
    async with working(rouser, wedges.Deaf):
        run = await start_turn(rouser)
        await until_idle(rouser)
        await rouser.rouse(suspect(wakes=3))
        assert await run_of(rouser) != run


async def test_a_turn_whose_activity_waits_for_a_free_worker_keeps_its_place(rouser: TemporalRouser) -> None:
    async with working(rouser, wedges.Starved):
        run = await start_turn(rouser)
        await until_idle(rouser)
        await rouser.rouse(suspect(wakes=9))
        assert await run_of(rouser) == run


async def test_a_turn_whose_task_waits_for_a_free_worker_keeps_its_place(rouser: TemporalRouser) -> None:
    run = await start_turn(rouser)
    await rouser.rouse(suspect(wakes=9))
    assert await run_of(rouser) == run


async def test_a_turn_on_a_task_queue_that_was_given_up_moves_to_the_one_of_today(rouser: TemporalRouser) -> None:
    before = TemporalRouser(replace(rouser.waker, task_queue="the queue of yesterday"))
    run = await start_turn(before)
    await before.waker.thread(KEY)
    await rouser.rouse(suspect(wakes=2))
    assert await run_of(rouser) == run
    await rouser.rouse(suspect(wakes=3))
    assert await run_of(rouser) != run
    moved = {(await handle.describe()).task_queue for handle in (turn_of(rouser), thread_of(rouser))}
    assert moved == {rouser.waker.task_queue}


async def test_an_urgent_wake_up_replaces_nothing(rouser: TemporalRouser) -> None:
    async with working(rouser, wedges.Deaf):
        run = await start_turn(rouser)
        await until_idle(rouser)
        uncounted = Suspect(KEY, 1, 1, "t-1", epoch=1, wakes=3, why="due", counted=False)
        await rouser.rouse(uncounted)
        assert await run_of(rouser) == run


async def test_a_turn_on_a_killed_worker_goes_on_without_waiting_for_its_sticky_queue(
    rouser: TemporalRouser, temporal: TemporalServer
) -> None:
    worker = await mortal_worker(rouser, temporal)
    await start_turn(rouser)
    await until_idle(rouser)
    worker.kill()
    await worker.wait()
    async with working(rouser, wedges.Counting):
        await rouser.rouse(suspect())
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(rouser).result() == 2


async def test_an_operation_that_died_with_its_worker_is_with_another_and_its_workflow_was_not_asked(
    rouser: TemporalRouser,
) -> None:
    async with working(rouser, wedges.Calling):
        run = await start_turn(rouser)
        activity_id = await id_of_started_activity(rouser)
        orphan = replace(suspect(), urgent=True, orphans=(f"{run}/{activity_id}/1",))
        assert await rouser.rouse(orphan) is None
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(rouser).result() == [2, 1]  # the signal is that of its start


@pytest.mark.parametrize("nonce", ["{run}/unknown/1", "{other}/{activity}/1", "none", ""])
async def test_who_has_no_operation_to_hand_on_is_woken(rouser: TemporalRouser, nonce: str) -> None:
    async with working(rouser, wedges.Calling):
        run = await start_turn(rouser)
        activity_id = await id_of_started_activity(rouser)
        other = "00000000-0000-4000-8000-000000000000"
        said = nonce.format(run=run, activity=activity_id, other=other)
        await rouser.rouse(replace(suspect(), urgent=True, orphans=(said,)))
        again = replace(suspect(wakes=2), urgent=True, orphans=(f"{run}/{activity_id}/1",))
        await rouser.rouse(again)  # who was handed on and did not move is woken, too
        await rouser.waker.client.get_workflow_handle(turn_of(rouser).id).signal("done")
        await rouser.rouse(replace(again, wakes=1))
        async with asyncio.timeout(DEADLINE_S):
            assert await turn_of(rouser).result() == [2, 4]


async def id_of_started_activity(rouser: TemporalRouser) -> str:
    """The id of the turn's activity, once a worker has it."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for pending in (await turn_of(rouser).describe()).raw_description.pending_activities:
                if pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED:
                    return str(pending.activity_id)
            await asyncio.sleep(0.05)


async def test_a_server_that_is_down_is_said_to_be_away(mortal: TemporalServer) -> None:
    rouser = TemporalRouser(Waker(await mortal.connect(), "journal", "queue"))
    await mortal.stop()
    with pytest.raises(EngineAway):
        await rouser.rouse(suspect())
    await mortal.start()
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                await rouser.rouse(suspect())
                break
            except EngineAway:
                await asyncio.sleep(0.1)


async def test_a_missing_namespace_is_said_to_be_away(temporal: TemporalServer) -> None:
    client = await Client.connect(temporal.address, namespace="nowhere", lazy=True)
    with pytest.raises(EngineAway):
        await TemporalRouser(Waker(client, "journal", "queue")).rouse(suspect())


def of_a_death() -> Suspect:
    """As a sweeper sees a thread right after a worker died."""
    return Suspect(KEY, 1, 1, "t-1", epoch=1, wakes=1, why="due", counted=False, urgent=True)


async def test_a_task_on_a_killed_worker_s_own_queue_is_taken_off_it_by_the_second_look(
    rouser: TemporalRouser, temporal: TemporalServer
) -> None:
    worker = await mortal_worker(rouser, temporal)
    run = await start_turn(rouser)
    await until_idle(rouser)
    worker.kill()
    await worker.wait()
    await rouser.waker.nudge_turn(KEY, "t-1")
    look = await rouser.rouse(of_a_death())
    assert look is not None
    await look()
    assert await run_of(rouser) != run


async def test_a_task_on_the_common_queue_is_left_to_who_has_yet_to_take_it(rouser: TemporalRouser) -> None:
    run = await start_turn(rouser)
    look = await rouser.rouse(of_a_death())
    assert look is not None
    await look()
    assert await run_of(rouser) == run
