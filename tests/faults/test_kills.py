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


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_turns_whose_workers_all_die_after_a_few_commits_come_to_the_undisturbed_end(world: World) -> None:
    expected = await undisturbed(world)
    turns = await submit_both(world, "storm")
    deaths = 0
    while await dies(world, await world.start_worker(fault="kill@committed:4"), turns):
        deaths += 1
    assert deaths > 2
    await assert_all_is_well(world, "storm", turns, expected)


async def undisturbed(world: World) -> Transcript:
    """What is said when nothing happens."""
    worker = await world.start_worker()
    assert not await dies(world, worker, await submit_both(world, "undisturbed"))
    worker.kill()
    return await world.transcript("undisturbed")


async def survives(world: World, point: str, at: int, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turns ended before anything happened."""
    thread = f"{point} {at}"
    victim, taker = world.prepare_worker(fault=f"kill@{point}:{at}"), world.prepare_worker()
    await world.let_work(victim)
    turns = await submit_both(world, thread)
    struck = await dies(world, victim, turns)
    if struck:
        await world.let_work(taker)
        assert not await dies(world, taker, turns)
    victim.kill()
    taker.kill()
    await assert_all_is_well(world, thread, turns, expected)
    return struck


async def submit_both(world: World, thread: str) -> tuple[Turn, Turn]:
    first = await world.submit(*ERRAND, thread=thread, request_id="first")
    return first, await world.submit(*THEN, thread=thread, request_id="second")


async def dies(world: World, worker: Worker, turns: tuple[Turn, Turn]) -> bool:
    """Wait until the worker died, or did everything there was to do."""

    async def over() -> bool:
        await settle_by_the_ledger(world, turns[0])
        ended = [(await turn.status()).finished for turn in turns]
        return not worker.is_running or (all(ended) and not await world.open_workflows())

    await world.until(over)
    return not worker.is_running


async def settle_by_the_ledger(world: World, turn: Turn) -> None:
    """Be the person who is asked what became of a call, if anybody is asked, and look."""
    view = await turn.status()
    for question in view.questions if view.status == "waiting" else ():
        assert question.kind == "unknown_outcome"
        happened = any(key.endswith(f"/{question.call_id}") for key in world.ledger.keys("effect", "", turn.id))
        if happened:
            await turn.reconcile(question.call_id or "", "succeeded", "post done")
        else:
            await turn.reconcile(question.call_id or "", "run_again")


async def assert_all_is_well(world: World, thread: str, turns: tuple[Turn, Turn], expected: Transcript) -> None:
    """What was said is as expected, every effect was had once, and every command is remembered."""
    assert [(await turn.status()).phase for turn in turns] == ["completed", "completed"]
    assert await world.transcript(thread) == expected
    assert [len(world.ledger.keys("effect", tool, turns[0].id)) for tool in ("post", "transfer")] == [1, 1]
    for turn, again in zip(turns, await submit_both(world, thread), strict=True):
        assert again.receipt is not None
        assert (again.id, again.receipt.duplicate) == (turn.id, True)
