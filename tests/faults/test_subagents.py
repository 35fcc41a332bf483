"""SIGKILL while subagents work: whatever dies and when, each task is given once and each end is told once."""

from functools import partial

import pytest

from tests.faults.harness.relay import Relay
from tests.faults.harness.scripts import call, say, tell
from tests.faults.harness.sweep import ALL, at_least, sweep
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.entries import ChildSpawned

# In a full sweep just before each commit, too: mostly that is just after the one before.
POINTS = ["commit", "committed"] if ALL else ["committed"]
HEARING = "enlisted_page"  # the statement by which a worker hears what one thread tells another
ERRAND = (
    tell("helper", (call("charge"), say("charged")), (call("look"), say("looked"))),
    say("{result}"),
)
SOME = {
    "sqlite": ("commit:5", "committed:5", "commit:8", "committed:12", "commit:18", "tool:ran:1"),
    "postgres": ("committed:5", "commit:9", "tool:reported:2"),
}


@pytest.mark.timeout(300)
async def test_a_worker_killed_while_subagents_work_gives_no_task_twice_and_loses_no_end(world: World) -> None:
    relay, expected = await undisturbed(world)
    for place in SOME[world.journal.driver.dialect]:
        assert await survives(world, relay, place, expected), f"the worker never came to {place}"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("point", POINTS)
async def test_a_worker_killed_at_the_nth_commit_while_subagents_work_changes_nothing(
    small_world: World, point: str
) -> None:
    relay, expected = await undisturbed(small_world)
    struck = await sweep(lambda place: survives(small_world, relay, place, expected), point)
    assert struck >= at_least(20), "parent and children commit so often together"


async def test_a_parent_cancelled_while_its_worker_is_dead_stops_its_three_children_and_the_next_turn_runs(
    world: World,
) -> None:
    worker = await world.start_worker()
    working = (call("charge", before="never"), say("charged"))
    turn = await world.submit(tell("helper", working, working, working), say("{result}"), agent="lead")
    following = await world.submit(say("the next one"), agent="lead")
    await world.until_ledger("began", "charge", 3)
    worker.kill()
    await turn.cancel()
    assert (await turn.status()).status == "cancelled"
    await world.start_worker()
    await world.until_status(following, "completed")
    for child in await children(world, turn):
        await world.until_status(child, "cancelled")
    assert world.ledger.keys("effect", "charge") == [], "nothing of it happened"
    await world.until_taken_in()
    assert "child.finished" not in await world.types(turn), "an end that nobody waits for changes nothing"


async def test_a_child_that_succeeds_after_its_parent_was_cancelled_changes_nothing_there(world: World) -> None:
    worker = await world.start_worker()
    turn = await world.submit(tell("helper", (call("charge", before="go"), say("late"))), say("{result}"), agent="lead")
    await world.until_ledger("began", "charge")
    worker.arm(f"raise@{HEARING}:1+")
    await turn.cancel()
    before = await world.types(turn)
    world.ledger.open("go")
    [child] = await children(world, turn)
    await world.until_status(child, "completed")
    worker.kill()
    await world.start_worker()
    await world.until_taken_in()
    assert (await turn.status()).status == "cancelled"
    assert await world.types(turn) == before
    assert (await child.status()).status == "completed", "the cancel came too late for it"
    following = await world.submit(say("the next one"), agent="lead")
    await world.until_status(following, "completed")
    assert [said["text"] for said in await world.transcript("main", "lead")][-2:] == ["please", "the next one"]


async def undisturbed(world: World) -> tuple[Relay, Transcript]:
    """What is said when nothing happens."""
    relay = await Relay.start(world)
    turn = await world.submit(*ERRAND, thread="undisturbed", agent="lead")
    await ended(world, turn, relay.worker)
    return relay, await world.transcript("undisturbed", "lead")


async def survives(world: World, relay: Relay, place: str, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turn ended before anything happened."""
    turn, struck = await relay.strike(
        place, lambda: world.submit(*ERRAND, thread=place, agent="lead"), partial(ended, world)
    )
    assert await world.transcript(place, "lead") == expected
    types = await world.types(turn)
    assert [types.count(f"child.{what}") for what in ("spawned", "finished")] == [2, 2]
    for child in await children(world, turn):
        assert (await child.status()).status == "completed"
        assert (await world.types(child)).count("turn.queued") == 1
    return struck


async def ended(world: World, turn: Turn, mortal: Worker) -> None:
    """Wait until the turn has ended, or the worker."""

    async def over() -> bool:
        view = await turn.status()
        assert view.status != "failed", view
        return view.finished or not mortal.is_running

    await world.until(over)


async def children(world: World, turn: Turn) -> list[Turn]:
    spawned = [entry.payload for entry in await world.entries(turn.key) if entry.turn_id == turn.id]
    return [await world.client.turn(child.child_turn) for child in spawned if isinstance(child, ChildSpawned)]
