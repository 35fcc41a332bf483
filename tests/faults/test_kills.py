"""SIGKILL at one durability boundary after the other: whichever it was, the conversation ends as the undisturbed one.

Two turns are submitted, the first with effects that cannot be taken back. The worker dies at the n-th passing of a
point; a second one takes over. A call whose outcome nobody can know is settled by a person who looks at the ledger.
"""

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn

ERRAND = (call("post"), call("transfer"), say("{result}"))
THEN = (say("and now to something else"),)
COMMITS = ("commit", "committed")
BOUNDARIES = ("turn:claiming", "model:begun", "model:claimed", "model:answered", "model:reported",
              "tool:begun", "tool:claimed", "tool:ran", "tool:reported")  # fmt: skip
SOME = ("commit:1", "commit:5", "committed:4", "committed:11", "model:answered:2", "tool:claimed:2", "tool:ran:1")


@pytest.mark.timeout(300)
async def test_a_worker_killed_at_any_of_some_points_changes_nothing_in_the_end(world: World) -> None:
    expected = await undisturbed(world)
    for place in SOME:
        point, _, at = place.rpartition(":")
        assert await survives(world, point, int(at), expected), f"the worker never came to {place}"


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("point", [*COMMITS, *BOUNDARIES])
async def test_a_worker_killed_at_the_nth_passing_of_a_point_changes_nothing_in_the_end(
    small_world: World, point: str
) -> None:
    expected, at = await undisturbed(small_world), 1
    while await survives(small_world, point, at, expected):
        at += 1
    assert at > 2, "the point is passed at least twice"


async def undisturbed(world: World) -> Transcript:
    """What is said when nothing happens."""
    worker = await world.start_worker()
    for turn in await submit_both(world, "undisturbed"):
        await world.until_status(turn, "completed")
    worker.kill()
    return await world.transcript("undisturbed")


async def survives(world: World, point: str, at: int, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turns ended before anything happened."""
    thread = f"{point} {at}"
    victim, taker = world.prepare_worker(fault=f"kill@{point}:{at}"), world.prepare_worker()
    await world.let_work(victim)
    turns = await submit_both(world, thread)
    struck = await was_struck(world, victim, turns)
    if struck:
        await world.let_work(taker)
    await settle_by_the_ledger(world, turns[0])
    for turn in turns:
        await world.until_status(turn, "completed")
    victim.kill()
    taker.kill()
    assert await world.transcript(thread) == expected
    for tool in ("post", "transfer"):
        assert len(world.ledger.keys("effect", tool, turns[0].id)) == 1
    for turn, again in zip(turns, await submit_both(world, thread), strict=True):
        assert again.receipt is not None
        assert (again.id, again.receipt.duplicate) == (turn.id, True)
    return struck


async def submit_both(world: World, thread: str) -> tuple[Turn, Turn]:
    first = await world.submit(*ERRAND, thread=thread, request_id="first")
    return first, await world.submit(*THEN, thread=thread, request_id="second")


async def was_struck(world: World, victim: Worker, turns: tuple[Turn, Turn]) -> bool:
    """Whether the worker died, or else did everything there was to do."""

    async def over() -> bool:
        if not victim.is_running:
            return True
        ended = [(await turn.status()).finished for turn in turns]
        return all(ended) and not await world.open_workflows()

    await world.until(over)
    return not victim.is_running


async def settle_by_the_ledger(world: World, turn: Turn) -> None:
    """Be the person who is asked what became of a call, and looks."""
    view = await world.until_status(turn, "waiting", "completed")
    for question in view.questions:
        assert question.kind == "unknown_outcome"
        assert question.call_id is not None
        happened = any(key.endswith(f"/{question.call_id}") for key in world.ledger.keys("effect", "", turn.id))
        await turn.reconcile(
            question.call_id, "succeeded" if happened else "run_again", "post done" if happened else ""
        )
