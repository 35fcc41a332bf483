"""A worker is cut off from the database, from Temporal, or from both: packets vanish, and nobody is told.

Rule: another carries its turns on before the cut is healed, what it does meanwhile counts once or not at all, and
healed it works on.
"""

import pytest

from tests.faults.harness.scripts import call, say, task
from tests.faults.harness.worker import Worker
from tests.faults.hosts.deployment import Deployment
from turnwright.client import Turn


async def charging(deployment: Deployment) -> tuple[Turn, Worker, Worker]:
    """A turn in the middle of a call that waits for the cut, the worker that runs it, and one beside it."""
    worker = await deployment.start_worker("first")
    turn = await deployment.world.submit(call("charge", before="cut"), call("post"), say("{result}"))
    await deployment.world.until_ledger("began", "charge")
    return turn, worker, await deployment.start_worker("second")


@pytest.mark.parametrize("still_heard", [False, True], ids=["cut off", "deaf"])
async def test_a_worker_without_answers_of_the_database_is_taken_over_and_doubles_nothing_when_it_has_them_again(
    deployment: Deployment, still_heard: bool
) -> None:
    world = deployment.world
    turn, cut_off, other = await charging(deployment)
    if still_heard:
        deployment.deafen("first", "database")
    else:
        deployment.cut("first", "database")
    world.ledger.open("cut")
    await deployment.until_taken_over(turn, cut_off)
    await world.until_status(turn, "completed")
    meanwhile = await world.submit(call("post"), say("{result}"), thread="meanwhile")
    await world.until_status(meanwhile, "completed")
    before = await world.transcript()
    deployment.network.heal()
    await world.until_entry(turn.key, "tool.late")
    assert await world.transcript() == before
    assert set(world.ledger.pids("effect", "post")) == {other.pid}
    await deployment.assert_takes_new_work(cut_off, without=other)
    await deployment.assert_nothing_was_lost_or_doubled(turn, meanwhile)


async def test_a_worker_cut_off_from_temporal_has_what_it_does_counted_and_the_next_is_done_by_another(
    deployment: Deployment,
) -> None:
    world = deployment.world
    turn, cut_off, other = await charging(deployment)
    deployment.cut("first", "temporal")
    world.ledger.open("cut")
    await deployment.until_taken_over(turn, cut_off)
    await world.until_status(turn, "completed")
    meanwhile = await world.muted.session(None, "s").thread("bot", "meanwhile").submit(task(say("hello")))
    await world.until_status(meanwhile, "completed")
    assert world.ledger.pids("effect", "charge") == [cut_off.pid]
    assert world.ledger.pids("effect", "post") == [other.pid]
    deployment.network.heal()
    await deployment.assert_takes_new_work(cut_off, without=other)
    await deployment.assert_nothing_was_lost_or_doubled(turn, meanwhile)


async def test_a_worker_cut_off_from_both_is_taken_over_and_doubles_nothing_when_it_is_back(
    deployment: Deployment,
) -> None:
    world = deployment.world
    turn, cut_off, other = await charging(deployment)
    deployment.cut("first", "database", "temporal")
    world.ledger.open("cut")
    await deployment.until_taken_over(turn, cut_off)
    await world.until_status(turn, "completed")
    before = await world.transcript()
    deployment.network.heal()
    await world.until_entry(turn.key, "tool.late")
    assert await world.transcript() == before
    assert world.ledger.pids("effect", "post") == [other.pid]
    await deployment.assert_takes_new_work(cut_off, without=other)
    await deployment.assert_nothing_was_lost_or_doubled(turn)
