"""One leads; when it dies another can, and when it hangs the others can tell."""

import asyncio

from tests.integration.stores.conftest import Spawn
from turnwright.journal.driver import Driver, Hold

LONG_S = 60.0


async def lead_soon(driver: Driver, name: str) -> Hold:
    async with asyncio.timeout(30):
        while True:
            if hold := await driver.try_lead(name, lease_s=LONG_S):
                return hold
            await asyncio.sleep(0.01)


async def test_one_leads_and_nobody_else(driver: Driver, other: Driver) -> None:
    hold = await driver.try_lead("sweep", lease_s=LONG_S)
    assert hold is not None
    assert hold.name == "sweep"
    assert await driver.try_lead("sweep", lease_s=LONG_S) is None
    assert await other.try_lead("sweep", lease_s=LONG_S) is None


async def test_the_lead_can_be_taken_after_it_was_given_back(driver: Driver, other: Driver) -> None:
    for one in (driver, other, driver, driver):
        hold = await one.try_lead("sweep", lease_s=LONG_S)
        assert hold is not None
        await hold.beat()
        await hold.release()
    assert (await driver.leader("sweep")).state == "dead"


async def test_a_killed_leader_leads_no_more(driver: Driver, spawn: Spawn) -> None:
    child = await spawn("lead", "sweep")
    assert await child.line() == "leads"
    assert await driver.try_lead("sweep", lease_s=LONG_S) is None
    child.kill()
    await lead_soon(driver, "sweep")


async def test_of_many_who_want_to_lead_exactly_one_does(driver: Driver, other: Driver) -> None:
    for n in range(20):
        tries = [one.try_lead(f"lead{n}", lease_s=LONG_S) for one in (driver, other, driver, other)]
        assert len([hold for hold in await asyncio.gather(*tries) if hold]) == 1


async def test_others_see_whether_the_leader_still_beats(driver: Driver, other: Driver) -> None:
    assert (await other.leader("sweep")).state == "dead"
    hold = await driver.try_lead("sweep", lease_s=0.05)
    assert hold is not None
    async with asyncio.timeout(30):
        while (await other.leader("sweep")).state != "lapsed":
            await asyncio.sleep(0.01)
        await hold.beat()
        while (await other.leader("sweep")).state != "alive":
            await hold.beat()
    assert await other.try_lead("sweep", lease_s=LONG_S) is None
