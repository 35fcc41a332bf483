"""What only the file store has: a write lock between processes, groups, and other programs."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from tests.integration.stores.conftest import Spawn
from tests.integration.stores.seeds import append_at, open_thread, remember, remembers
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.script import Script
from turnwright.journal.sqlite.driver import SqliteDriver
from turnwright.journal.sqlite.runner import Runner


@pytest.fixture
def journal_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
async def impatient(sqlite_url: str) -> AsyncIterator[SqliteDriver]:
    """A driver that waits for the write lock for a moment only."""
    driver = open_driver(f"{sqlite_url}?lock_timeout_s=0.2")
    assert isinstance(driver, SqliteDriver)
    await driver.start()
    await driver.migrate()
    yield driver
    await driver.stop()


async def test_scripts_queued_meanwhile_are_committed_together(impatient: SqliteDriver) -> None:
    commits = 0

    def hook(point: str) -> None:
        nonlocal commits
        commits += point == "commit"

    impatient.hook = hook
    await asyncio.gather(*(impatient.write(partial(remember, f"n{n}")) for n in range(100)))
    assert commits < 20


async def test_a_stopped_process_in_its_transaction_is_named_and_blocks_no_longer_than_it_lives(
    impatient: SqliteDriver, spawn: Spawn
) -> None:
    child = await spawn("block", "commit")
    assert await child.line() == "inside"
    os.kill(child.pid, signal.SIGSTOP)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=f"process {child.pid} has held"):
            await impatient.write(partial(remember, "blocked"))
    assert await impatient.read(partial(remembers, "blocked")) == [False]
    child.kill()
    async with asyncio.timeout(30):
        while True:
            try:
                await impatient.write(partial(remember, "free"))
                break
            except StoreUnavailable:
                continue
    assert await impatient.read(partial(remembers, "blocked", "free")) == [False, True]


async def test_a_process_that_writes_without_pause_does_not_starve_another(
    impatient: SqliteDriver, spawn: Spawn
) -> None:
    places = [await impatient.write(partial(open_thread, f"n{n}")) for n in range(8)]
    child = await spawn("append", str(places[0].session_id), *(str(place.thread_id) for place in places))
    await child.line()
    mine = await impatient.write(partial(open_thread, "mine"))
    for step in range(50):
        assert await impatient.write(partial(append_at, mine, step * 4)) is not None


async def test_another_program_that_locks_the_file_is_reported(impatient: SqliteDriver) -> None:
    connection = sqlite3.connect(impatient.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    outcomes = await asyncio.gather(
        *(impatient.write(partial(remember, f"n{n}")) for n in range(20)), return_exceptions=True
    )
    assert all(isinstance(error, StoreUnavailable) and "not Turnwright" in str(error) for error in outcomes)
    connection.execute("ROLLBACK")
    connection.close()
    await impatient.write(partial(remember, "a"))


async def test_a_full_disk_fails_what_was_in_the_group_and_later_writes_go_on(impatient: SqliteDriver) -> None:
    def limit(pages: str, runner: Runner) -> None:
        (now,) = runner.connection.execute("PRAGMA page_count").fetchone()
        runner.connection.execute(f"PRAGMA max_page_count = {pages.format(now=now)}")

    place = await impatient.write(open_thread)
    await impatient.run_task(partial(limit, "{now}"))

    def large() -> Script[int | None]:
        return (yield from append_at(place, 0, count=100, size=10_000))

    outcomes = await asyncio.gather(
        impatient.write(partial(remember, "small")), impatient.write(large), return_exceptions=True
    )
    assert isinstance(outcomes[1], StoreUnavailable)
    assert "check the disk" in str(outcomes[1])
    assert (outcomes[0] is None) == (await impatient.read(partial(remembers, "small")))[0]
    await impatient.run_task(partial(limit, "1000000"))
    assert await impatient.write(large) == 1


async def test_the_file_and_its_locks_are_all_that_is_left_behind(sqlite_url: str, tmp_path: Path) -> None:
    driver = open_driver(sqlite_url)
    await driver.start()
    await driver.migrate()
    await driver.hold_presence("p1", {}, lease_s=60)
    await driver.stop()
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assert names == ["journal.db", "journal.db-locks", "queue", "writer"]


async def test_a_change_of_the_working_directory_leads_to_no_other_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drivers = {}
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        drivers[name] = open_driver("sqlite:///journal.db")
        await drivers[name].start()
        await drivers[name].migrate()
        await drivers[name].write(partial(remember, name))
    here = drivers["here"]
    hold = await here.hold_presence("p1", {}, lease_s=60)
    assert (await asyncio.gather(*(here.read(partial(remembers, "here", "there")) for _ in range(30)))) == [
        [True, False]
    ] * 30
    await hold.beat()
    assert [seen.liveness.state for seen in await here.presences()] == ["alive"]
    for driver in drivers.values():
        await driver.stop()


async def test_the_journal_is_durable_and_overwrites_what_is_erased(impatient: SqliteDriver) -> None:
    def pragmas(runner: Runner) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "page_size", "temp_store", "secure_delete")
        return {name: runner.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    assert await impatient.run_task(pragmas) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "page_size": 4096,
        "temp_store": 2,
        "secure_delete": 1,
    }
