"""A journal is served through one Temporal: a second is refused while the first is, and welcome when it is not."""

from tests.faults.harness.recovering import recover
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer


async def test_a_worker_with_another_temporal_waits_until_the_journal_is_free(
    world: World, temporal: TemporalServer, mortal: TemporalServer
) -> None:
    first = await world.start_worker()
    stranger = world.prepare_worker(settings={"temporal_address": mortal.address})
    world.ledger.open(stranger.name)
    await stranger.until_logged("waiting")
    [said] = [line["error"] for line in stranger.logged("waiting")]
    assert str(first.pid) in said
    await world.until_status(await world.submit(say("hello")), "completed")
    assert stranger.logged("worker_ready") == []
    code, [refusal] = await recover(world, temporal=mortal.address)
    assert (code, refusal["error"]["code"]) == (1, "served_elsewhere")
    first.kill()
    await stranger.until_ready()
    await world.until_status(await world.submit(say("hello"), thread="other"), "completed")
    assert temporal.is_running


async def test_workers_whose_temporal_was_replaced_under_them_go_on_with_the_new_one(
    small_doomed_world: World, mortal: TemporalServer
) -> None:
    world = small_doomed_world
    workers = [await world.start_worker() for _ in range(2)]
    turn = await world.submit(call("charge", before="gate"), call("look"), say("{result}"))
    await world.until_ledger("began", "charge")
    mortal.kill()
    mortal.erase()
    await mortal.start()
    world.ledger.open("gate")
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("began", "charge")) == 1, "the call went on"
    for worker in workers:
        await worker.until_logged("temporal_replaced")
    await world.until_status(await world.submit(say("hello"), thread="other"), "completed")
    assert [worker.logged("worker_evicted") for worker in workers] == [[], []]
    joined = await world.start_worker()
    for worker in workers:
        worker.kill()
    await world.until_status(await world.submit(say("hello"), thread="third"), "completed")
    assert joined.logged("waiting") == [], "it joined at once"
