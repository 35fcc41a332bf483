"""Every way from the workers is slow and loses packets: each turn ends as on a good one, and nothing is done twice."""

import asyncio

from tests.faults.harness.errands import LONG, give, said_undisturbed
from tests.faults.harness.world import PRODUCTION
from tests.faults.hosts.deployment import Deployment
from tests.faults.hosts.network import Link

BAD = Link(delay_s=0.025, loss=0.05)


async def test_turns_of_workers_behind_slow_and_lossy_links_end_as_on_good_ones(deployment: Deployment) -> None:
    world, network = deployment.world, deployment.network
    worker = await deployment.start_worker("first", PRODUCTION)
    await deployment.start_worker("second", PRODUCTION)
    expected = await said_undisturbed(world, LONG, worker)
    ways = [(network[host], network[server]) for host in ("first", "second") for server in ("database", "temporal")]
    for way in ways:
        network.impair(*way, BAD)
    errands = [await give(world, LONG, f"bad {number}") for number in range(2)]
    assert all(await asyncio.gather(*(errand.until_done(worker) for errand in errands)))
    for errand in errands:
        await errand.assert_well(expected)
    assert all(network.lost(*way) and network.lost(*reversed(way)) for way in ways)
    await deployment.assert_nothing_was_lost_or_doubled(*(turn for errand in errands for turn in errand.turns))
