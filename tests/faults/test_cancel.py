"""A cancel is a command in the journal: no dead worker, lost signal or silent provider keeps it from its effect."""

from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.world import World

PATIENT = {"cancel_grace_s": 60}


async def test_a_turn_cancelled_while_its_only_worker_is_dead_ends_and_the_next_one_runs(world: World) -> None:
    worker = await world.start_worker()
    turn = await world.submit(call("charge", after="never"), say("{result}"))
    following = await world.submit(say("the next one"))
    await world.until_ledger("effect", "charge")
    worker.kill()
    receipt = await turn.cancel()
    assert receipt.status == "accepted"
    assert (await turn.status()).status in ("cancelling", "cancelled")
    await world.start_worker()
    await world.until_status(turn, "cancelled")
    await world.until_status(following, "completed")
    assert len(world.ledger.keys("began", "charge")) == 1, "a cancelled turn starts nothing"


async def test_a_turn_cancelled_while_its_only_worker_is_frozen_ends_when_that_goes_on(world: World) -> None:
    worker = await world.start_worker(fault="stop@tool:ran:1")
    turn = await world.submit(call("charge"), say("{result}"))
    following = await world.submit(say("the next one"))
    await worker.until_frozen()
    await turn.cancel()
    assert (await turn.status()).status == "cancelling"
    worker.thaw()
    await world.until_status(turn, "cancelled")
    await world.until_status(following, "completed")
    assert (await world.types(turn)).count("model.requested") == 1


async def test_a_cancel_whose_signal_is_lost_takes_effect_and_is_shown_until_then(small_world: World) -> None:
    world = small_world
    await world.start_worker(settings=PATIENT)
    turn = await world.submit(call("linger", until="let go"), say("{result}"))
    following = await world.submit(say("the next one"))
    await world.until_ledger("began", "linger")
    await (await world.muted.turn(turn.id)).cancel()
    await world.until_ledger("asked", "linger")
    assert (await turn.status()).status == "cancelling"
    world.ledger.open("let go")
    await world.until_status(turn, "cancelled")
    await world.until_status(following, "completed")


async def test_a_cancel_frees_a_turn_whose_model_went_silent_though_its_signal_is_lost(small_world: World) -> None:
    world = small_world
    await world.start_worker()
    silent: Step = {"silent": "I was about to"}
    turn = await world.submit(silent)
    following = await world.submit(say("the next one"))
    await world.until_entry(turn.key, "model.requested")
    await (await world.muted.turn(turn.id)).cancel()
    await world.until_status(turn, "cancelled")
    await world.until_status(following, "completed")
    [interrupted] = await world.until_entry(turn.key, "model.interrupted")
    assert getattr(interrupted.payload, "reason") == "cancelled"  # noqa: B009
