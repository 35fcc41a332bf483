"""The effect happened and the worker died before it could say so: one effect, whoever finds out about it."""

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.client import CommandRejected, Turn


async def taken_over(world: World, tool: str, point: str) -> Turn:
    """A turn whose worker died at that point of its call; another one goes on with it."""
    taker = world.prepare_worker()
    worker = await world.start_worker(fault=f"kill@{point}:1")
    turn = await world.submit(call(tool), say("{result}"))
    await worker.until_ended()
    await world.let_work(taker)
    return turn


async def test_a_call_nobody_can_ask_about_waits_for_a_person_who_settles_it(world: World) -> None:
    turn = await taken_over(world, "post", "tool:ran")
    view = await world.until_status(turn, "waiting")
    [question] = view.questions
    assert (question.kind, question.call_id is not None) == ("unknown_outcome", True)
    with pytest.raises(CommandRejected, match="reconcile"):
        await turn.respond(question.interaction_id, "approve")
    await turn.reconcile(question.call_id or "", "succeeded", "it lay in the letter box", reason="I looked")
    await world.until_status(turn, "completed")
    assert (await turn.result()).text == "it lay in the letter box"
    assert len(world.ledger.keys("began", "post")) == 1


async def test_while_a_turn_waits_nothing_of_it_is_in_temporal(world: World) -> None:
    """So three days of waiting cost nothing, time out nothing and duplicate nothing: there is nothing that could."""
    turn = await taken_over(world, "post", "tool:ran")
    await world.until_status(turn, "waiting")
    await world.until_no_workflow()
    runs, entries = await world.runs_of(turn), await world.entries(turn.key)
    for n in range(3):  # what goes on elsewhere wakes nothing here
        await world.until_status(await world.submit(say("hello"), thread=f"other {n}"), "completed")
    assert await world.runs_of(turn) == runs
    assert await world.entries(turn.key) == entries
    view = await turn.status()
    await turn.reconcile(view.questions[0].call_id or "", "failed", "it came back", reason="I looked")
    await world.until_status(turn, "completed")


async def test_a_tool_that_can_be_asked_settles_its_own_calls(small_world: World) -> None:
    world = small_world
    turn = await taken_over(world, "transfer", "tool:ran")
    await world.until_status(turn, "completed")
    assert (await turn.result()).text == "transfer done"
    assert len(world.ledger.keys("began", "transfer")) == 1
    types = await world.types(turn)
    assert "tool.reconciled" in types
    assert "turn.waiting" not in types


async def test_a_tool_that_finds_no_trace_of_its_call_has_it_made(small_world: World) -> None:
    world = small_world
    turn = await taken_over(world, "transfer", "tool:claimed")
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "transfer")) == 1
    assert "turn.waiting" not in await world.types(turn)


async def test_an_idempotent_call_is_made_again_under_the_same_key(small_world: World) -> None:
    world = small_world
    turn = await taken_over(world, "charge", "tool:ran")
    await world.until_status(turn, "completed")
    first, second = world.ledger.keys("effect", "charge")
    assert first == second, "whoever charges the card sees one charge"
