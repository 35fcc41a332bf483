"""A worker dies with a workflow's task or call in its hands: nobody waits for the task's timeout, and no turn for the
call's.
"""

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World

PATIENT = {"workflow_task_timeout_s": 120, "sticky_timeout_s": 120}
SOON_S = 60


@pytest.mark.parametrize("point", ["thread:looked", "turn:claiming"])
async def test_a_task_that_a_dead_worker_held_is_taken_from_it(small_world: World, point: str) -> None:
    world = small_world
    taker = world.prepare_worker(settings=PATIENT)
    victim = await world.start_worker(fault=f"kill@{point}:1", settings=PATIENT)
    turn = await world.submit(call("post"), say("{result}"))
    await victim.until_ended()
    await world.let_work(taker)
    await world.until_status(turn, "completed", deadline_s=SOON_S)
    assert taker.logged("task_of_dead_worker")
    assert len(world.ledger.keys("effect", "post")) == 1


@pytest.mark.parametrize("point", ["commit:2", "commit:4"])
async def test_a_call_that_a_dead_worker_had_taken_and_not_claimed_is_taken_from_it(
    small_world: World, point: str
) -> None:
    world = small_world
    taker = world.prepare_worker()
    victim = await world.start_worker(fault=f"kill@{point}")
    turn = await world.submit(call("post"), say("{result}"))
    await victim.until_ended()
    await world.let_work(taker)
    await world.until_status(turn, "completed", deadline_s=SOON_S)
    assert taker.logged("activity_of_dead_worker") or taker.logged("task_of_dead_worker")
    assert len(world.ledger.keys("effect", "post")) == 1


async def test_a_workflow_whose_worker_died_between_the_last_commit_and_its_report_ends_by_itself(
    small_world: World,
) -> None:
    world = small_world
    taker = world.prepare_worker()
    victim = await world.start_worker(fault="kill@model:reported:2")
    turn = await world.submit(call("post"), say("{result}"))
    await victim.until_ended()
    assert (await turn.status()).status == "completed"
    assert [one for one in await world.open_workflows() if "/turn/" in one], "Temporal does not know that it is done"
    await world.let_work(taker)
    await world.until_status(await world.submit(say("the next one")), "completed")
    types = await world.types(turn)
    await world.until_no_workflow()
    assert await world.types(turn) == types
    assert len(world.ledger.keys("effect", "post")) == 1
