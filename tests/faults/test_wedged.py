"""Whoever stops or breaks a turn's workflow: it is seen, started again from the journal, and given up in the end."""

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World

BROKEN = "tests.faults.broken_build"
EAGER = {"stall_s": 0.3}


async def test_a_workflow_that_an_operator_terminated_is_started_again(world: World) -> None:
    await world.start_worker()
    turn = await world.submit(call("post", after="posted"), call("look"), say("{result}"))
    await world.until_ledger("effect", "post")
    await world.terminate_workflow(turn)
    world.ledger.open("posted")
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1
    assert len(await world.runs_of(turn)) > 1


async def test_a_turn_wedged_by_a_broken_build_goes_on_with_a_sound_one(world: World) -> None:
    sound = world.prepare_worker(settings=EAGER)
    broken = await world.start_worker(module=BROKEN, settings=EAGER)
    turn = await world.submit(call("post"), say("{result}"))
    await world.until_entry(turn.key, "run.claimed")
    broken.kill()
    await world.let_work(sound)
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_turn_that_no_run_brings_forward_fails_after_five_instead_of_going_on_for_ever(
    small_world: World,
) -> None:
    world = small_world
    worker = await world.start_worker(module=BROKEN, settings=EAGER)
    turn = await world.submit(call("post"), say("{result}"))
    view = await world.until_status(turn, "failed")
    assert (view.row.code, view.row.retryable) == ("internal", True)
    types = await world.types(turn)
    assert types.count("run.claimed") == 6, "five runs without progress, and one that says so"
    assert "model.requested" not in types, "no model call was paid for"
    assert worker.logged("turn_restarted")
    worker.kill()
    await world.start_worker()
    await world.until_status(await world.submit(say("hello")), "completed")


@pytest.mark.slow
async def test_a_turn_whose_every_operation_breaks_fails_unpaid_and_can_be_retried_on_a_sound_worker(
    small_world: World,
) -> None:
    world = small_world
    sound = world.prepare_worker()
    broken = await world.start_worker(fault="raise@model:begun:1+", settings=EAGER)
    turn = await world.submit(call("post"), say("{result}"))
    assert (await world.until_status(turn, "failed")).row.code == "internal"
    assert "model.requested" not in await world.types(turn)
    await world.until_no_workflow()
    broken.kill()
    await world.let_work(sound)
    await turn.retry()
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1
