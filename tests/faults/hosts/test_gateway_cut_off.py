"""A gateway's host is cut off from who reads there: what happened meanwhile comes once the cut is healed, each once."""

from pathlib import Path

from tests.faults.harness.scripts import call, say
from tests.faults.hosts.deployment import Deployment
from tests.faults.hosts.reader import WAYS, Kept


async def test_readers_of_a_gateway_that_is_cut_off_for_a_while_miss_nothing_and_get_nothing_twice(
    deployment: Deployment, tmp_path: Path
) -> None:
    world = deployment.world
    await deployment.start_worker("first")
    turn = await world.submit(call("post", before="cut"), call("charge"), say("{result}"))
    key = await world.client.create_key("reader")
    deployment.start_reader(await deployment.start_gateway(), key.token, tmp_path)
    kept = [Kept(tmp_path, way) for way in WAYS]

    async def is_kept(wanted: list[tuple[int, str]]) -> bool:
        return all(len(way.all()) >= len(wanted) for way in kept)

    async def has_broken() -> bool:
        return Kept(tmp_path, "stream").broke

    await world.until_ledger("began", "post")
    before = await deployment.timeline()
    await world.until(lambda: is_kept(before))
    deployment.cut("gateway", "reader")
    world.ledger.open("cut")
    await world.until_status(turn, "completed")
    after = await deployment.timeline()
    assert len(after) > len(before)
    assert [way.all() for way in kept] == [before, before]
    await world.until(has_broken)
    deployment.network.heal()
    await world.until(lambda: is_kept(after))
    assert [way.all() for way in kept] == [after, after]
    await deployment.assert_nothing_was_lost_or_doubled(turn)
