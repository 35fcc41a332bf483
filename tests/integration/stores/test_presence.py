"""A presence dies with its process, lapses when it hangs, and is never confused with another."""

import asyncio
import os
import signal
from functools import partial

import pytest

from tests.integration.stores.conftest import Spawn
from turnwright.journal.driver import Driver
from turnwright.journal.errors import HoldLost, InvalidInput, StoreError
from turnwright.journal.script import Liveness, find_dead

LONG_S = 60.0


async def until(driver: Driver, presence_id: str, state: str) -> Liveness:
    async with asyncio.timeout(30):
        while True:
            liveness = (await driver.liveness([presence_id]))[presence_id]
            if liveness.state == state:
                return liveness
            await asyncio.sleep(0.01)


async def test_a_held_presence_is_alive_and_a_released_one_dead(driver: Driver, other: Driver) -> None:
    hold = await driver.hold_presence("p1", {"host": "here"}, lease_s=LONG_S)
    for one in (driver, other):
        liveness = (await one.liveness(["p1"]))["p1"]
        assert liveness.state == "alive"
        assert liveness.beat_age_s is not None
        assert liveness.beat_age_s < LONG_S
    await hold.release()
    await hold.release()
    assert hold.lost
    assert (await other.liveness(["p1"]))["p1"].state == "dead"


async def test_an_id_that_nobody_held_is_dead(driver: Driver) -> None:
    assert await driver.liveness(["nobody", "no/body"]) == {"nobody": Liveness("dead"), "no/body": Liveness("dead")}


async def test_an_id_is_held_once(driver: Driver, other: Driver) -> None:
    await driver.hold_presence("p1", {}, lease_s=LONG_S)
    for one in (driver, other):
        with pytest.raises(StoreError, match="held already"):
            await one.hold_presence("p1", {}, lease_s=LONG_S)
    assert (await driver.liveness(["p1"]))["p1"].state == "alive"


@pytest.mark.parametrize("name", ["", "a/b", "../x", ".hidden", "a b", "x" * 101, "ü"])
async def test_a_name_that_could_be_a_path_is_refused(driver: Driver, name: str) -> None:
    with pytest.raises(InvalidInput):
        await driver.hold_presence(name, {}, lease_s=LONG_S)


async def test_all_presences_are_listed_with_their_info(driver: Driver, other: Driver) -> None:
    await driver.hold_presence("p1", {"host": "a", "pid": 1}, lease_s=LONG_S)
    await other.hold_presence("p2", {"host": "b"}, lease_s=LONG_S)
    found = {one.presence_id: (one.info, one.liveness.state) for one in await driver.presences()}
    assert found == {"p1": ({"host": "a", "pid": 1}, "alive"), "p2": ({"host": "b"}, "alive")}
    assert [(one.presence_id, one.info) for one in await driver.presences(info=False)] == [("p1", {}), ("p2", {})]


async def test_a_killed_process_is_dead_at_once_whatever_its_lease(driver: Driver, spawn: Spawn) -> None:
    child = await spawn("presence", "victim", "3600")
    assert await child.line() == "held"
    assert (await driver.liveness(["victim"]))["victim"].state == "alive"
    child.kill()
    await until(driver, "victim", "dead")
    listed = [one for one in await driver.presences() if one.presence_id == "victim"]
    assert all(one.liveness.state == "dead" for one in listed)


async def test_a_stopped_process_lapses_and_lives_again_when_it_goes_on(driver: Driver, spawn: Spawn) -> None:
    child = await spawn("presence", "frozen", "0.4")
    assert await child.line() == "held"
    await until(driver, "frozen", "alive")
    os.kill(child.pid, signal.SIGSTOP)
    lapsed = await until(driver, "frozen", "lapsed")
    assert lapsed.beat_age_s is not None
    assert lapsed.beat_age_s > 0.4
    os.kill(child.pid, signal.SIGCONT)
    await until(driver, "frozen", "alive")


async def test_a_script_learns_who_is_dead_within_its_transaction(driver: Driver, other: Driver) -> None:
    await other.hold_presence("p1", {}, lease_s=LONG_S)
    ask = partial(find_dead, frozenset({"p1", "p2"}))
    for found in (await driver.write(ask), await driver.read(ask)):
        assert {name: liveness.state for name, liveness in found.items()} == {"p1": "alive", "p2": "dead"}
    assert await driver.write(lambda: find_dead(frozenset())) == {}


async def test_a_beat_after_release_says_that_the_presence_is_lost(driver: Driver) -> None:
    hold = await driver.hold_presence("p1", {}, lease_s=LONG_S)
    await hold.beat()
    await hold.release()
    with pytest.raises(HoldLost, match="take it again"):
        await hold.beat()


async def test_what_a_presence_tells_changes_with_a_beat_and_stays_so(driver: Driver, other: Driver) -> None:
    hold = await driver.hold_presence("p1", {"host": "here", "full": True}, lease_s=LONG_S)
    for told in ({"host": "here"}, {"host": "here", "full": False}, {"host": "here", "since": 10**40}):
        await hold.beat(told)
        await hold.beat()
        assert [(one.info, one.liveness.state) for one in await other.presences()] == [(told, "alive")]


async def test_stopping_the_driver_frees_its_presences(driver: Driver, other: Driver) -> None:
    await other.hold_presence("p1", {}, lease_s=LONG_S)
    await other.stop()
    await until(driver, "p1", "dead")


async def test_asking_about_a_presence_never_makes_its_holder_fail(driver: Driver, other: Driver) -> None:
    asking = True

    async def ask() -> None:
        while asking:
            await other.liveness([f"p{n}" for n in range(30)])

    asker = asyncio.create_task(ask())
    for n in range(30):
        hold = await driver.hold_presence(f"p{n}", {}, lease_s=LONG_S)
        await hold.release()
    asking = False
    await asker
