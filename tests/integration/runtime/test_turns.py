"""Turns from submission to their end, and the order of the queue."""

import asyncio
from pathlib import Path

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, calls, say
from turnwright.journal.messages import ToolResult


async def results(turn: Turn) -> list[ToolResult]:
    state = await turn.cluster.journal.state(turn.key)
    return [result for message in state.context for result in message.results]


async def test_a_turn_with_tools_runs_to_its_completion(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(call("add", a=1, b=2), call("add", a=3, b=4), say("It is {result}."))
    assert (await turn.until("completed")).code is None
    state = await cluster.journal.state(turn.key)
    assert [message.text for message in state.context if message.role == "assistant"] == ["", "", "It is 7."]
    assert (await turn.types())[-2:] == ["model.responded", "turn.completed"]


async def test_the_calls_of_one_step_run_at_the_same_time(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    # Each waits for the other.
    turn = await cluster.submit(calls(("meet", {"own": a, "other": b}), ("meet", {"own": b, "other": a})), say("met"))
    await turn.until("completed")
    assert [result.outcome for result in await results(turn)] == ["success", "success"]


async def test_many_calls_of_one_step_all_get_their_own_result(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(calls(*(("add", {"a": n, "b": n}) for n in range(20))), say("done"))
    await turn.until("completed")
    by_id = {result.id: result.output[0].text for result in await results(turn)}  # type: ignore[union-attr]
    asked = (await turn.of_type("model.responded"))[0].payload.blocks  # type: ignore[attr-defined]
    assert [by_id[block.id] for block in asked] == [str(2 * n) for n in range(20)]


async def test_queued_turns_run_one_after_another_in_their_order(cluster: Cluster) -> None:
    await cluster.start_worker()
    turns = [await cluster.submit(call("add", a=n, b=0), say(f"turn {n}")) for n in range(5)]
    for turn in turns:
        await turn.until("completed")
    entries = await cluster.entries(turns[0].key)
    ends = {"turn.started", "turn.completed"}
    order = [(entry.type, entry.turn_id) for entry in entries if entry.type in ends]
    assert order == [(kind, turn.turn_id) for turn in turns for kind in ("turn.started", "turn.completed")]
    state = await cluster.journal.state(turns[0].key)
    said = [message.text for message in state.context if message.role == "assistant" and message.text]
    assert said == [f"turn {n}" for n in range(5)]


async def test_threads_of_one_session_run_at_the_same_time(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    first = await cluster.submit(call("meet", own=a, other=b), say("met"), thread="one")
    second = await cluster.submit(call("meet", own=b, other=a), say("met"), thread="two")
    await asyncio.gather(first.until("completed"), second.until("completed"))


async def test_a_turn_is_spread_over_all_workers_and_goes_on_linearly(cluster: Cluster) -> None:
    for _ in range(3):
        await cluster.start_worker()
    turns = [await cluster.submit(call("add", a=1, b=1), say("ok"), thread=f"t{n}") for n in range(8)]
    for turn in turns:
        await turn.until("completed")
        assert len(await turn.of_type("run.claimed")) == 1


async def test_of_two_who_race_for_an_idle_thread_one_runs_and_the_other_changes_nothing(cluster: Cluster) -> None:
    await cluster.start_worker()
    await cluster.session()
    first, second = await asyncio.gather(
        cluster.submit(say("a"), if_busy="reject", thread="race"),
        cluster.submit(say("b"), if_busy="reject", thread="race"),
    )
    winner, loser = (first, second) if first.receipt.status == "accepted" else (second, first)
    assert (loser.receipt.status, loser.receipt.code) == ("rejected", "busy")
    await winner.until("completed")
    assert await cluster.journal.turn(loser.key, loser.turn_id) is None
    assert not await loser.entries()


async def test_an_interrupt_cancels_the_active_turn_and_runs_before_the_queue(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log = tmp_path / "log"
    active = await cluster.submit(call("look", log=str(log), wait_for=str(tmp_path / "never")), say("late"))
    queued = await cluster.submit(say("queued"))
    await cluster.until_trace(log, "started")
    urgent = await cluster.submit(say("urgent"), if_busy="interrupt")
    assert (await active.until("cancelled")).code == "cancelled_by_interrupt"
    await urgent.until("completed")
    await queued.until("completed")
    started = [e.turn_id for e in await cluster.entries(active.key) if e.type == "turn.started"]
    assert started == [active.turn_id, urgent.turn_id, queued.turn_id]
