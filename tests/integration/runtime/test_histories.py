"""Temporal's history of a turn: small, flat, readable, and cut without losing anything."""

import asyncio
import json
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.restless import RestlessTurn
from tests.integration.runtime.scripts import call, say
from turnwright.journal.errors import StoreError
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow

EVENTS_PER_STEP_MAX = 12
BYTES_PER_STEP_MAX = 1_536


async def size(turn: Turn) -> tuple[int, int]:
    """Events and bytes of the turn's newest run, once it has ended."""
    await turn.until_parked()
    history = await turn.handle.fetch_history()
    return len(history.events), sum(event.ByteSize() for event in history.events)


async def test_a_step_costs_the_same_few_events_and_bytes_however_many_came_before(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    sizes = []
    for steps in (10, 30, 50):
        turn = await small_cluster.submit(*[call("add", a=1, b=2)] * steps, say("done"))
        await turn.until("completed")
        sizes.append(await size(turn))
    (events_10, bytes_10), (events_30, bytes_30), (events_50, bytes_50) = sizes
    assert events_50 - events_30 == events_30 - events_10 <= 20 * EVENTS_PER_STEP_MAX
    assert bytes_50 - bytes_30 <= 20 * BYTES_PER_STEP_MAX
    assert bytes_30 - bytes_10 <= 20 * BYTES_PER_STEP_MAX


async def test_what_a_conversation_says_never_enters_temporal(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    secret = "the-secret-word"
    turn = await small_cluster.submit(call("fail", message=secret), say(secret))
    await turn.until("completed")
    await turn.steer(secret)
    for handle in (turn.handle, small_cluster.thread_handle(turn.key)):
        assert secret.encode() not in (await handle.fetch_history()).to_json().encode()


@pytest.mark.parametrize("error", [ValueError, StoreError])
async def test_what_an_error_says_never_enters_temporal(small_cluster: Cluster, error: type[Exception]) -> None:
    secret, times = "the-secret-word", iter(range(100))

    async def break_once(point: str) -> None:
        if point == "tool:begun" and next(times) == 0:
            raise error(f"cannot read {secret}") from RuntimeError(secret)

    await small_cluster.start_worker(boundary=break_once)
    turn = await small_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")
    newest = await turn.handle.fetch_history()
    began = newest.events[0].workflow_execution_started_event_attributes.first_execution_run_id
    first = await small_cluster.client.get_workflow_handle(turn.handle.id, run_id=began).fetch_history()
    assert error.__name__ in first.to_json(), "the failure is in there"
    assert secret not in first.to_json() + newest.to_json()


async def test_a_run_looks_at_the_journal_only_when_it_was_told_something(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    turn = await small_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")
    await turn.until_parked()
    history = await turn.handle.fetch_history()
    kinds = [event.event_type for event in history.events]
    assert kinds.count(EventType.EVENT_TYPE_MARKER_RECORDED) == 1  # the claim
    assert kinds.count(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED) == 1  # its start; its leaving wakes it no more


async def test_a_turn_holds_no_workflow_task_while_it_signals_its_thread(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    turn = await small_cluster.submit(say("done"))
    await turn.until("completed")
    await turn.until_parked()
    scheduled = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in (await turn.handle.fetch_history()).events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    assert scheduled == ["model_step", "wake_thread"]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_turn_of_many_steps_continues_as_new_and_ends_as_if_it_had_not(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    steps = 240
    turn = await small_cluster.submit(*[call("add", a=1, b=2)] * steps, say("done"), agent="patient")
    steered = 0
    async with asyncio.timeout(240):
        while not (status := await turn.status()).finished:
            steered += (await turn.steer(f"note {steered}")).status == "accepted"
            await asyncio.sleep(0.2)
    assert status.phase == "completed"
    assert 1 < len(await turn.of_type("run.claimed")) < 5
    assert len(await turn.of_type("tool.started")) == steps
    state = await small_cluster.journal.state(turn.key)
    notes = [message.text for message in state.context if message.text.startswith("note")]
    assert notes == [f"note {n}" for n in range(steered)]
    described = await turn.handle.describe()
    assert (await described.memo())["turn"] == turn.turn_id
    assert described.status is WorkflowExecutionStatus.COMPLETED


@pytest.mark.slow
async def test_no_signal_is_lost_to_a_run_that_continues_as_new(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(workflows=[SessionWorkflow, ThreadWorkflow, RestlessTurn])
    steps, pauses = 24, 0
    turn = await small_cluster.submit(*[call("add", a=1, b=2)] * steps, say("done"))
    for claimed in range(1, 9):
        await turn.until_entry("run.claimed", claimed)
        await asyncio.sleep(claimed / 20)  # at another moment of its run each time
        await turn.handle.signal("pause", claimed)
        pauses += 1
        await turn.until_pause("effective")
        await turn.resume()
    await turn.until("completed")
    asked = {"turn.pause_requested", "turn.paused"}
    assert sum(entry.payload.principal != "" for entry in await turn.entries() if entry.type in asked) == pauses  # type: ignore[attr-defined]
    assert len(await turn.of_type("run.claimed")) > pauses + 1
    assert len(await turn.of_type("tool.started")) == steps


async def test_temporals_own_cancel_is_not_lost_to_a_run_that_continues_as_new(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(workflows=[SessionWorkflow, ThreadWorkflow, RestlessTurn])
    steps = [call("add", a=1, b=2)] * 40
    turns = [await small_cluster.submit(*steps, say("done"), thread=f"t{n}") for n in range(8)]

    async def cancelled(turn: Turn, after_results: int) -> None:
        await turn.until_entry("tool.finished", after_results)
        await turn.handle.cancel()
        await turn.until("cancelled")

    await asyncio.gather(*(cancelled(turn, n) for n, turn in enumerate(turns, start=1)))


async def test_people_see_in_temporal_which_turn_and_step_they_look_at(small_cluster: Cluster, tmp_path: Path) -> None:
    await small_cluster.start_worker()
    gate = tmp_path / "gate"
    turn = await small_cluster.submit(call("look", log=str(tmp_path / "log"), wait_for=str(gate)), say("done"))
    await small_cluster.until_trace(tmp_path / "log", "started")
    described = await turn.handle.describe()
    assert await described.memo() == {"thread": turn.key.canonical, "turn": turn.turn_id}
    assert await described.static_summary() == "turn of bot in session s"
    summaries = [
        json.loads(event.user_metadata.summary.data)
        for event in (await turn.handle.fetch_history()).events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    assert summaries == ["model 1", "tool 1-0"]
    status = await turn.handle.query("status")
    assert (status["turn"], status["epoch"], status["next"]) == (turn.turn_id, 1, "work")
    assert [name.split()[:3] for name in status["operations"]] == [["tool", "1", "1"]]
    thread = await small_cluster.thread_handle(turn.key).describe()
    assert (await thread.memo())["thread"] == turn.key.canonical
    gate.touch()
    await turn.until("completed")
