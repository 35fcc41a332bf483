"""A whole host goes: a worker's loses its power, the database's cannot be reached by anybody for a while."""

from tests.faults.harness.scripts import call, say
from tests.faults.hosts.deployment import Deployment


async def test_the_turns_of_a_host_that_lost_its_power_are_taken_over_though_no_connection_ended(
    deployment: Deployment,
) -> None:
    world = deployment.world
    killed = await deployment.start_worker("first")
    charged = await world.submit(call("charge", before="killed"), say("{result}"), thread="charged")
    posted = await world.submit(call("post", before="killed"), say("{result}"), thread="posted")
    moved = await world.submit(call("transfer", before="killed"), say("{result}"), thread="moved")
    for tool in ("charge", "post", "transfer"):
        await world.until_ledger("began", tool)
    other = await deployment.start_worker("second")
    deployment.network.kill(deployment.network["first"])
    await killed.until_ended()
    for server in ("database", "temporal"):
        await deployment.until_lost("first", server)  # what its kernel says of the end of its connections
    world.ledger.open("killed")
    await deployment.until_taken_over(charged, killed)
    view = await world.until_status(posted, "waiting")
    await world.settle_by_the_ledger(posted, view.questions[0].call_id or "")
    for turn in (charged, posted, moved):
        await world.until_status(turn, "completed")
    assert world.ledger.pids("effect") == [other.pid] * 3
    deployment.network.heal()
    await deployment.assert_takes_new_work(await deployment.start_worker("first"), without=other)
    await deployment.assert_nothing_was_lost_or_doubled(charged, posted, moved)


async def test_turns_outlive_a_database_whose_host_nobody_reaches_for_a_while(deployment: Deployment) -> None:
    world = deployment.world
    workers = [await deployment.start_worker(host) for host in ("first", "second")]
    threads = ("one", "two", "three", "four")
    steps = (call("post", before="away"), call("charge"), say("{result}"))
    turns = [await world.submit(*steps, thread=thread) for thread in threads]
    await world.until_ledger("began", "post", len(threads))
    deployment.network.unplug(deployment.network["database"])
    world.ledger.open("away")
    await world.until_ledger("effect", "post", len(threads))
    queued = await world.submit(say("hello"), thread="queued")
    for worker in workers:
        await worker.until_logged("presence_lost")
    assert [await world.types(turn) for turn in turns] == [await world.types(turns[0])] * len(turns)
    deployment.network.heal()
    for turn in (*turns, queued):
        await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == len(threads)
    await deployment.assert_nothing_was_lost_or_doubled(*turns, queued)
