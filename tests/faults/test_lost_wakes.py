"""A command that is committed is carried out, whoever was to wake somebody for it and did not."""

from tests.faults.harness.scripts import call, say, task
from tests.faults.harness.world import World

NOBODY_SWEEPS = {"stall_s": 3_600}


async def test_a_turn_runs_whose_client_died_between_its_commit_and_its_wake_up(world: World) -> None:
    await world.start_worker()
    first = await world.muted.session(None, "s").submit(task(say("one")), agent="bot")
    await world.until_status(first, "completed")
    second = await world.muted.session(None, "s").submit(task(call("look"), say("two")), agent="bot")
    await world.until_status(second, "completed")


async def test_a_turn_runs_that_was_submitted_while_nothing_else_was_up(small_world: World) -> None:
    world = small_world
    turn = await world.muted.session(None, "s").submit(task(call("post"), say("{result}")), agent="bot")
    await world.start_worker()
    await world.until_status(turn, "completed")


async def test_a_submit_that_meets_its_thread_at_the_end_of_its_last_look_runs_without_any_sweeper(
    world: World,
) -> None:
    """The thread has read that nothing is left and is about to end; the wake-up must not be lost with it."""
    await world.start_worker(fault="delay=0.4@thread:looked:1+", settings=NOBODY_SWEEPS)
    for _ in range(4):
        turn = await world.submit(say("hello"))
        await world.until_status(turn, "completed")


async def test_a_submit_at_any_moment_of_its_thread_s_ending_runs_without_any_sweeper(world: World) -> None:
    await world.start_worker(settings=NOBODY_SWEEPS)
    for _ in range(25):
        turn = await world.submit(say("hello"))
        await world.until_status(turn, "completed")


async def test_a_worker_killed_after_a_thread_s_look_loses_no_turn(small_world: World) -> None:
    world = small_world
    taker = world.prepare_worker()
    victim = await world.start_worker(fault="kill@thread:looked:1")
    turn = await world.submit(say("hello"))
    await victim.until_ended()
    await world.let_work(taker)
    await world.until_status(turn, "completed")
