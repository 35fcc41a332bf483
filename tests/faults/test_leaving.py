"""SIGTERM in the middle of a turn: the worker ends what it can, hands the rest over, and nothing is redone."""

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World


async def test_a_tool_call_is_ended_by_the_worker_that_leaves_and_the_turn_goes_on_elsewhere(world: World) -> None:
    other = world.prepare_worker()
    leaving = await world.start_worker()
    turn = await world.submit(call("post", after="posted"), call("charge"), say("{result}"))
    await world.until_ledger("effect", "post")
    leaving.terminate()
    await leaving.until_logged("worker_draining")
    await world.let_work(other)
    world.ledger.open("posted")
    await world.until_status(turn, "completed")
    assert await leaving.until_ended() == 0
    types = await world.types(turn)
    assert [types.count(kind) for kind in ("tool.started", "model.requested", "tool.finished")] == [2, 3, 2]
    assert world.ledger.pids("effect", "post") == [leaving.pid]


async def test_what_does_not_end_in_time_is_handed_over_and_counts_as_no_failure(world: World) -> None:
    """An answer that takes hours, and a call that may be repeated under its key: the other worker has both at once."""
    other = world.prepare_worker()
    leaving = await world.start_worker(settings={"drain_timeout_s": 0.2})
    turn = await world.submit(call("charge", after="never"), say("hello"))
    talk = await world.submit(say("a long story", delay_s=3_600, chunk_characters=2), thread="talk")
    await world.until_ledger("effect", "charge")
    await world.until_entry(talk.key, "model.requested")
    leaving.terminate()
    assert await leaving.until_ended() == 0
    await world.let_work(other)
    world.ledger.open("never")
    await world.until_entry(talk.key, "model.requested", 2)
    await world.until_status(turn, "completed")
    [interrupted] = await world.until_entry(talk.key, "model.interrupted")
    assert getattr(interrupted.payload, "reason") == "drained"  # noqa: B009
    first, second = world.ledger.keys("effect", "charge")
    assert first == second
    await talk.cancel()
    await world.until_status(talk, "cancelled")


async def test_a_rolling_restart_of_all_workers_during_a_turn_redoes_nothing(small_world: World) -> None:
    world = small_world
    leaving = await world.start_worker()
    turn = await world.submit(*(call("post", after=f"gate {n}") for n in range(3)), say("{result}"))
    for n in range(3):
        await world.until_ledger("effect", "post", n + 1)
        coming = await world.start_worker()
        leaving.terminate()
        await leaving.until_logged("worker_draining")
        world.ledger.open(f"gate {n}")
        assert await leaving.until_ended() == 0
        leaving = coming
    await world.until_status(turn, "completed")
    types = await world.types(turn)
    assert [types.count(kind) for kind in ("tool.started", "model.requested", "tool.finished")] == [3, 4, 3]
    assert len(world.ledger.keys("effect", "post")) == 3
