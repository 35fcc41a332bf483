"""SIGKILL at one durability boundary after the other: whichever it was, the conversation ends as the undisturbed one.

The worker dies at the n-th passing of a point, and another one takes over. Which of them a run takes: see `sweep`.
"""

import pytest

from tests.faults.harness.errands import LONG, Errands, give, said_undisturbed
from tests.faults.harness.relay import Relay
from tests.faults.harness.sweep import at_least, sweep
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.world import World

POINTS = (
    ("commit",),
    ("committed",),
    ("thread:looked", "turn:claiming"),
    ("model:begun", "model:claimed", "model:answered", "model:reported"),
    ("tool:begun", "tool:claimed", "tool:ran", "tool:reported"),
)
SOME = {
    "sqlite": ("commit:1", "commit:5", "committed:4", "committed:10", "tool:claimed:2", "tool:ran:1"),
    "postgres": ("commit:5", "committed:10", "model:answered:2", "tool:ran:1"),
}


@pytest.mark.timeout(300)
async def test_a_worker_killed_at_any_of_some_points_changes_nothing_in_the_end(world: World) -> None:
    relay = await Relay.start(world)
    expected = await said_undisturbed(world, LONG, relay.worker)
    for place in SOME[world.journal.driver.dialect]:
        assert await survives(world, relay, place, expected), f"the worker never came to {place}"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("points", POINTS, ids=lambda points: points[0].partition(":")[0])
async def test_a_worker_killed_at_the_nth_passing_of_a_point_changes_nothing_in_the_end(
    small_world: World, points: tuple[str, ...]
) -> None:
    relay = await Relay.start(small_world)
    expected = await said_undisturbed(small_world, LONG, relay.worker)
    struck = await sweep(lambda place: survives(small_world, relay, place, expected), *points)
    assert struck >= at_least(2 * len(points)), "each is passed at least twice"


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_turns_whose_workers_all_die_after_a_few_commits_come_to_the_undisturbed_end(world: World) -> None:
    relay = await Relay.start(world)
    expected = await said_undisturbed(world, LONG, relay.worker)
    relay.worker.arm("kill@committed:4")
    errands = await give(world, LONG, "storm")
    deaths = 0
    while not await errands.until_done(relay.worker):
        deaths += 1
        await relay.take_over("kill@committed:4")
    assert deaths > 2
    await errands.assert_well(expected)


async def survives(world: World, relay: Relay, place: str, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turns ended before anything happened."""
    errands, struck = await relay.strike(place, lambda: give(world, LONG, place), Errands.until_done)
    await errands.assert_well(expected)
    return struck
