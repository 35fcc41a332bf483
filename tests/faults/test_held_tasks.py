"""A worker dies with a workflow's task in its hands: nobody waits for the task's timeout."""

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
