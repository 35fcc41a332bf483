"""A worker's presence: it appears, beats, and takes its lock again when that is lost."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from tests.integration.worker.conftest import Spawn, Sql, until
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.worker.condition import Condition
from turnwright.worker.presence import PresenceKeeper, WorkerInfo

INFO = WorkerInfo("worker 1", "queue", ("a", "b"), {"a": ("look",), "b": ()})


async def break_lock(journal_url: str, presence_id: str, sql: Sql) -> None:
    """Take the lock away: remove its file, or end the server's session that holds it."""
    if urlsplit(journal_url).scheme == "sqlite":
        Path(f"{urlsplit(journal_url).path[1:]}-locks/presence.{presence_id}").unlink()
    else:
        await sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")


async def test_it_is_seen_with_what_it_tells_and_gone_when_it_stops(driver: Driver) -> None:
    ids: list[str] = []
    keeper = PresenceKeeper(driver, INFO, 60, ids.append)
    await keeper.start()
    await keeper.start()
    [seen] = await driver.presences()
    assert ids == [keeper.presence_id] == [seen.presence_id]
    assert seen.liveness.state == "alive"
    assert (seen.info["agents"], seen.info["tools"]) == (["a", "b"], {"a": ["look"], "b": []})
    assert {name: seen.info[name] for name in ("slots", "full", "temporal_away_since_us")} == {
        "slots": 0,
        "full": False,
        "temporal_away_since_us": None,
    }
    assert {"label", "pid", "started", "version", "task_queue", "reducer"} <= set(seen.info)
    await keeper.stop()
    await keeper.stop()
    assert await driver.presences() == []


async def test_it_outlives_its_lease_by_beating(driver: Driver) -> None:
    keeper = PresenceKeeper(driver, INFO, 0.3, lambda _: None)
    await keeper.start()
    first = (await driver.presences())[0].liveness.beat_age_s or 0
    async with asyncio.timeout(30):
        while ((await driver.presences())[0].liveness.beat_age_s or 0) >= first:
            await asyncio.sleep(0.01)  # until a beat makes it younger than it was
            first = max(first, (await driver.presences())[0].liveness.beat_age_s or 0)
    await keeper.stop()


async def test_when_its_lock_is_lost_it_takes_it_again_under_the_same_id(
    driver: Driver, journal_url: str, sql: Sql
) -> None:
    ids: list[str] = []
    keeper = PresenceKeeper(driver, INFO, 0.2, ids.append)
    await keeper.start()
    await break_lock(journal_url, keeper.presence_id, sql)
    await until(lambda: len(ids) > 1)
    assert set(ids) == {keeper.presence_id}
    assert (await driver.liveness(ids))[keeper.presence_id].state == "alive"
    await keeper.stop()


async def test_when_the_store_thinks_that_its_lock_is_held_it_appears_under_a_new_id(
    driver: Driver, journal_url: str
) -> None:
    ids: list[str] = []
    keeper = PresenceKeeper(driver, INFO, 60, ids.append)
    await keeper.start()
    await keeper.stop()
    other = open_driver(journal_url)
    await other.start()
    await other.hold_presence(ids[0], {}, lease_s=60)
    await keeper.start()
    assert ids == [ids[0], keeper.presence_id]
    assert {name: at.state for name, at in (await driver.liveness(ids)).items()} == dict.fromkeys(ids, "alive")
    await keeper.stop()
    await other.stop()


async def test_a_killed_process_is_seen_dead_and_a_frozen_one_lapsed(driver: Driver, spawn: Spawn) -> None:
    killed, frozen = await spawn("presence", "600"), await spawn("presence", "0.5")
    one, two = await killed.line(), await frozen.line()
    killed.kill()
    frozen.freeze()
    async with asyncio.timeout(30):
        while {name: at.state for name, at in (await driver.liveness([one, two])).items()} != {
            one: "dead",
            two: "lapsed",
        }:
            await asyncio.sleep(0.01)


async def test_it_tells_when_all_slots_are_taken_and_since_when_temporal_is_away(
    driver: Driver, journal_url: str, sql: Sql
) -> None:
    condition, ids = Condition(slots=2), list[str]()
    keeper = PresenceKeeper(driver, INFO, 0.3, ids.append, condition)

    async def until_told(name: str, told: object) -> None:
        async with asyncio.timeout(30):
            while [seen.info.get(name) for seen in await driver.presences()] != [told]:
                await asyncio.sleep(0.01)

    await keeper.start()
    await until_told("slots", 2)
    condition.running = 2
    await until_told("full", True)
    condition.temporal_away()
    since_us = condition.away_since_us
    condition.temporal_away()
    await until_told("temporal_away_since_us", since_us)
    await break_lock(journal_url, keeper.presence_id, sql)
    await until(lambda: len(ids) > 1)
    await until_told("full", True)
    condition.running = 1
    await until_told("full", False)
    condition.temporal_there()
    await until_told("temporal_away_since_us", None)
    await keeper.stop()
