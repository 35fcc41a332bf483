"""SIGKILL at one durability boundary after the other: whichever it was, the conversation ends as the undisturbed one.

Two turns are submitted, the first with effects that cannot be taken back, one of them given more to think about, and
the thread some material. The worker dies at the n-th passing of a point; a second one takes over. A call whose outcome
nobody can know is settled by a person who looks at the ledger.
"""

from dataclasses import dataclass, replace

import pytest

from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.commands import Receipt

BOTH: Step = {"call": [{"name": "post", "arguments": {}}, {"name": "transfer", "arguments": {}}]}
ERRAND = (BOTH, call("charge"), say("{result}"))
THEN = (say("and now to something else"),)
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


@dataclass(frozen=True)
class Errands:
    """What was accepted on a thread."""

    thread: str
    turns: tuple[Turn, Turn]
    receipts: tuple[Receipt, ...]


@pytest.mark.timeout(300)
async def test_a_worker_killed_at_any_of_some_points_changes_nothing_in_the_end(world: World) -> None:
    expected = await undisturbed(world)
    for place in SOME[world.journal.driver.dialect]:
        point, _, at = place.rpartition(":")
        assert await survives(world, point, int(at), expected), f"the worker never came to {place}"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("points", POINTS, ids=lambda points: points[0].partition(":")[0])
async def test_a_worker_killed_at_the_nth_passing_of_a_point_changes_nothing_in_the_end(
    small_world: World, points: tuple[str, ...]
) -> None:
    expected = await undisturbed(small_world)
    for point in points:
        at = 1
        while await survives(small_world, point, at, expected):
            at += 1
        assert at > 2, f"{point} is passed at least twice"


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_turns_whose_workers_all_die_after_a_few_commits_come_to_the_undisturbed_end(world: World) -> None:
    expected = await undisturbed(world)
    errands = await give(world, "storm")
    deaths = 0
    while await dies(world, await world.start_worker(fault="kill@committed:4"), errands):
        deaths += 1
    assert deaths > 2
    await assert_all_is_well(world, errands, expected)


async def test_turns_come_to_the_undisturbed_end_though_no_commit_is_ever_acknowledged(world: World) -> None:
    """Each append's answer is lost, so each is made again, and found to be there."""
    expected = await undisturbed(world)
    errands = await give(world, "unacknowledged")
    worker = await world.start_worker(fault="raise@committed:1+")
    assert not await dies(world, worker, errands)
    await assert_all_is_well(world, errands, expected)


async def undisturbed(world: World) -> Transcript:
    """What is said when nothing happens."""
    worker = await world.start_worker()
    errands = await give(world, "undisturbed")
    assert not await dies(world, worker, errands)
    worker.kill()
    return await world.transcript(errands.thread)


async def survives(world: World, point: str, at: int, expected: Transcript) -> bool:
    """Let a worker die there and another take over; False when the turns ended before anything happened."""
    victim, taker = world.prepare_worker(fault=f"kill@{point}:{at}"), world.prepare_worker()
    errands = await give(world, f"{point} {at}")
    await world.let_work(victim)
    struck = await dies(world, victim, errands)
    if struck:
        await world.let_work(taker)
        assert not await dies(world, taker, errands)
    victim.kill()
    taker.kill()
    await assert_all_is_well(world, errands, expected)
    return struck


async def give(world: World, name: str) -> Errands:
    """Give the commands; given again they have the same receipts."""
    thread = world.thread(name)
    first = await world.submit(*ERRAND, thread=name, request_id="first")
    second = await world.submit(*THEN, thread=name, request_id="second")
    steered = await second.steer("be quick about it", request_id="steered")
    injected = await thread.inject("it is Monday", request_id="injected")
    assert first.receipt is not None
    assert second.receipt is not None
    return Errands(name, (first, second), (first.receipt, second.receipt, steered, injected))


async def dies(world: World, worker: Worker, errands: Errands) -> bool:
    """Wait until the worker died, or did everything there was to do."""

    async def over() -> bool:
        view = await errands.turns[0].status()
        for question in view.questions if view.status == "waiting" else ():
            assert question.kind == "unknown_outcome"
            await world.settle_by_the_ledger(errands.turns[0], question.call_id or "")
        ended = [(await turn.status()).finished for turn in errands.turns]
        return not worker.is_running or (all(ended) and not await world.open_workflows())

    await world.until(over)
    return not worker.is_running


async def assert_all_is_well(world: World, errands: Errands, expected: Transcript) -> None:
    """What was said is as expected, every effect was had once, and every command is remembered."""
    first = errands.turns[0]
    assert [(await turn.status()).phase for turn in errands.turns] == ["completed", "completed"]
    assert await world.transcript(errands.thread) == expected
    effects = {tool: world.ledger.keys("effect", tool, first.id) for tool in ("post", "transfer", "charge")}
    assert [len(effects["post"]), len(effects["transfer"]), len(set(effects["charge"]))] == [1, 1, 1]
    again = await give(world, errands.thread)
    assert again.receipts == tuple(replace(receipt, duplicate=True) for receipt in errands.receipts)
