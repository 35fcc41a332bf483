"""SIGKILL while people decide: whatever dies and when, each call is asked about once and approved calls run once."""

from functools import partial

import pytest

from tests.faults.harness.relay import Relay
from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.sweep import at_least, sweep
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.entries import InteractionRequested

BOTH: Step = {"call": [{"name": "post", "arguments": {}}, {"name": "transfer", "arguments": {}}]}
ERRAND = (BOTH, call("charge"), say("{result}"))
TOOLS = ("post", "transfer", "charge")
SOME = {
    "sqlite": ("model:reported:1", "commit:4", "tool:begun:1", "tool:ran:2", "committed:9"),
    "postgres": ("model:reported:1", "tool:ran:1"),
}


@pytest.mark.timeout(300)
async def test_a_worker_killed_while_people_decide_asks_nothing_twice_and_runs_nothing_twice(world: World) -> None:
    relay, expected = await undisturbed(world)
    for place in SOME[world.journal.driver.dialect]:
        assert await survives(world, relay, place, expected), f"the worker never came to {place}"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("point", ["committed", "tool:ran"])
async def test_a_worker_killed_at_the_nth_passing_of_a_point_while_people_decide_changes_nothing(
    small_world: World, point: str
) -> None:
    relay, expected = await undisturbed(small_world)
    struck = await sweep(lambda place: survives(small_world, relay, place, expected), point)
    assert struck >= at_least(2), f"{point} is passed at least twice"


async def test_answers_given_while_every_worker_is_dead_count_when_one_returns(world: World) -> None:
    worker = await world.start_worker()
    turn = await world.submit(*ERRAND, agent="asking")
    await world.until_status(turn, "waiting")
    worker.kill()
    assert len([await decide(turn, question.interaction_id) for question in (await turn.status()).questions]) == 2
    await world.start_worker()
    await carried_out(world, turn, None)
    await assert_asked_and_done_once(world, turn)


async def undisturbed(world: World) -> tuple[Relay, Transcript]:
    """What is said when nothing happens."""
    relay = await Relay.start(world)
    turn = await world.submit(*ERRAND, thread="undisturbed", agent="asking")
    await carried_out(world, turn, relay.worker)
    return relay, await world.transcript("undisturbed", "asking")


async def survives(world: World, relay: Relay, place: str, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turn ended before anything happened."""
    turn, struck = await relay.strike(
        place, lambda: world.submit(*ERRAND, thread=place, agent="asking"), partial(carried_out, world)
    )
    assert await world.transcript(place, "asking") == expected
    await assert_asked_and_done_once(world, turn)
    return struck


async def carried_out(world: World, turn: Turn, mortal: Worker | None) -> None:
    """Answer what is asked until the turn has ended, or the worker."""

    async def over() -> bool:
        view = await turn.status()
        for question in view.questions if view.status == "waiting" else ():
            if question.kind == "unknown_outcome":
                await world.settle_by_the_ledger(turn, question.call_id or "")
            else:
                await decide(turn, question.interaction_id)
        return view.finished or (mortal is not None and not mortal.is_running)

    await world.until(over)


async def decide(turn: Turn, question: str) -> str:
    """Approve; the same answer given twice is one answer."""
    receipt = await turn.respond(question, "approve", request_id=f"yes {question}", check=False)
    return receipt.status


async def assert_asked_and_done_once(world: World, turn: Turn) -> None:
    asked = [e.payload for e in await world.entries(turn.key) if isinstance(e.payload, InteractionRequested)]
    approvals = [payload.call_id for payload in asked if payload.kind == "approval"]
    assert len(approvals) == len(set(approvals)) == len(TOOLS)
    assert [len(set(world.ledger.keys("effect", tool, turn.id))) for tool in TOOLS] == [1, 1, 1]
    once = [len(world.ledger.keys("effect", tool, turn.id)) for tool in ("post", "transfer")]
    assert once == [1, 1]
