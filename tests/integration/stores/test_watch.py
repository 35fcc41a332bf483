"""A watch wakes for commits of this process and of others, and misses none."""

import asyncio

import pytest

from tests.integration.stores.conftest import Spawn
from tests.integration.stores.seeds import remember, remembers, touch
from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.script import Script

SOON_S = 20.0
AT_ONCE_S = 0.0


def remember_in(name: str, key: str) -> Script[None]:
    yield from remember(name)
    yield from touch(key)


async def wait_until_seen(driver: Driver, watch: Subscription, name: str) -> None:
    """Look, and wait for a wake-up before each further look."""
    while not all(await driver.read(lambda: remembers(name))):
        assert await watch.changed(SOON_S), f"nobody told of {name}"


async def test_a_commit_of_this_driver_wakes(driver: Driver) -> None:
    async with driver.watch() as watch:
        waiting = asyncio.ensure_future(watch.changed(SOON_S))
        await driver.write(lambda: remember("a"))
        assert await waiting


async def test_a_commit_between_two_calls_is_remembered(driver: Driver) -> None:
    async with driver.watch({"k"}) as watch:
        await driver.write(lambda: remember_in("a", "k"))
        assert await watch.changed(AT_ONCE_S)
        assert not await watch.changed(AT_ONCE_S)


async def test_only_who_watches_a_touched_key_is_woken(driver: Driver) -> None:
    async with driver.watch({"one", "two"}) as both, driver.watch({"three"}) as third, driver.watch() as every:
        await driver.write(lambda: remember_in("a", "two"))
        assert [await watch.changed(AT_ONCE_S) for watch in (both, third, every)] == [True, False, True]
        await driver.write(lambda: remember("names nothing"))
        assert [await watch.changed(AT_ONCE_S) for watch in (both, third, every)] == [True, True, True]


async def test_a_script_that_failed_wakes_nobody(driver: Driver) -> None:
    def failing() -> Script[None]:
        yield from remember_in("a", "k")
        raise RuntimeError

    async with driver.watch() as watch:
        with pytest.raises(RuntimeError):
            await driver.write(failing)
        assert not await watch.changed(AT_ONCE_S)


async def test_a_commit_of_another_driver_wakes(driver: Driver, other: Driver) -> None:
    async with driver.watch({"k"}) as watch:
        for n in range(20):
            await other.write(lambda n=n: remember_in(f"n{n}", "k"))  # type: ignore[misc]
            await wait_until_seen(driver, watch, f"n{n}")


async def test_a_commit_of_another_process_wakes(driver: Driver, spawn: Spawn) -> None:
    async with driver.watch({"k"}) as watch:
        await spawn("commit", "from afar", "k")
        await wait_until_seen(driver, watch, "from afar")


async def test_a_watch_that_ended_is_forgotten(driver: Driver) -> None:
    async with driver.watch({"k"}) as watch:
        pass
    await driver.write(lambda: remember_in("a", "k"))
    assert not await watch.changed(AT_ONCE_S)
    async with driver.watch({"k"}) as again:
        await driver.write(lambda: remember_in("b", "k"))
        assert await again.changed(AT_ONCE_S)


async def test_many_watchers_of_one_key_are_all_woken(driver: Driver, other: Driver) -> None:
    watches = [driver.watch({"k"}) for _ in range(50)]
    for watch in watches:
        await watch.__aenter__()
    await other.write(lambda: remember_in("a", "k"))
    await asyncio.gather(*(wait_until_seen(driver, watch, "a") for watch in watches))
    for watch in watches:
        await watch.__aexit__(None, None, None)


async def test_a_driver_that_is_not_open_cannot_be_watched(driver: Driver) -> None:
    await driver.stop()
    with pytest.raises(StoreUnavailable):
        async with driver.watch():
            pass
