"""The journal: whether it answers, keeps what it was given, has the tables of this version, and agrees on the time."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final

from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import InvalidInput, JournalError
from turnwright.journal.script import Script, rows
from turnwright.journal.statements import migrations
from turnwright.journal.store_sealing import keys_in_use, untrue_keys
from turnwright.journal.takers import REDUCER, SEALS
from turnwright.journal.transact.rows import clock
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.settings import Settings

CLOCK_APART_S_MAX = 2.0
FREE_BYTES_MIN = 1_000_000_000
CONNECTIONS_MIN = 50
DURABLE: Final = {"fsync": "on", "full_page_writes": "on", "journal_mode": "wal"}
# Commits that are acknowledged before they are on a disk are lost with the server.
COMMITS_KEPT: Final = frozenset({"on", "remote_write", "remote_apply", "local"})
MIGRATE: Final = "run `turnwright journal migrate` with the newest version that is to use it"


async def look_at_journal(settings: Settings) -> AsyncIterator[Finding]:
    """Findings, until one stands against the next."""
    file = settings.journal_file
    if file is not None and not file.exists():
        yield broken("journal", f"there is no file {file}", "run `turnwright journal migrate`, or `turnwright dev`")
        return
    try:
        driver = open_driver(settings.journal_url)
    except InvalidInput as error:
        yield broken("journal", str(error), "set its URL right, with the keys that it names")
        return
    try:
        await driver.start()
    except JournalError as error:
        yield broken("journal", str(error), "start the store, or name another journal with --journal")
        return
    try:
        async for finding in _look(driver):
            yield finding
    except JournalError as error:
        yield broken("journal", str(error), "see what is wrong with the store")
    finally:
        await driver.stop()
    if file is not None:
        yield await asyncio.to_thread(_disk, file)


async def _look(driver: Driver) -> AsyncIterator[Finding]:
    for name, value in await driver.read(_durability):
        yield _judged(name, value)
    yield _clocks(await _apart_s(driver))
    known, latest = await driver.schema_version(), migrations(driver.dialect)[-1].version
    if known < latest:
        yield broken("tables", f"they are at version {known}, this program needs {latest}", MIGRATE)
        return
    newer = ", made by a newer version" if known > latest else ""
    yield fine("tables", f"version {known}{newer}")
    yield await _sealing(driver)
    yield await _workers(driver)


async def _sealing(driver: Driver) -> Finding:
    """Whether what is sealed can be opened with the keys that there are."""
    in_use, sealer = await keys_in_use(driver), driver.sealer
    if not in_use and not sealer.seals:
        return fine("sealing", "the journal is not sealed")
    missing = sorted(set(in_use) - sealer.names)
    if missing:
        what = "no keys are given" if not sealer.seals else f"the keys {', '.join(missing)} are not given"
        return broken("sealing", f"the journal is sealed and {what}", "name them with `keys=` in the journal's URL")
    if wrong := await untrue_keys(driver):
        said = f"{', '.join(wrong)} is another key than the one of that name in use"
        return broken("sealing", said, "give all processes the same file of keys; nothing in the journal is damaged")
    if keyless := await _keyless(driver):
        said = f"{', '.join(keyless)} began without keys, and cannot go on with what is sealed"
        return broken("sealing", said, "name the keys in the journal's URL there, too, and restart")
    if old := [name for name in in_use if name != sealer.newest]:
        return doubtful("sealing", f"some is under {', '.join(old)}, an older key", "run `turnwright journal seal`")
    if await driver.read(partial(rows, "unsealed_sessions", 0, 1)):
        return doubtful("sealing", "some sessions are not wholly sealed", "run `turnwright journal seal`")
    return fine("sealing", f"all of it under the key {sealer.newest}")


async def _keyless(driver: Driver) -> list[str]:
    """The labels of living workers that were given no keys; one of before they told does not say."""
    alive = [one.info for one in await driver.presences() if one.liveness.state == "alive"]
    return sorted(str(info.get("label")) for info in alive if info.get(SEALS) is False)


def _durability() -> Script[list[tuple[str, str]]]:
    return [(str(name), str(value)) for name, value in (yield from rows("durability"))]


def _judged(name: str, value: str) -> Finding:
    if name == "synchronous_commit" and value not in COMMITS_KEPT:
        return broken(name, f"it is {value}: a crash of the server loses accepted turns", "set it to on")
    if name in DURABLE and value != DURABLE[name]:
        return broken(name, f"it is {value}: a crash may lose or break the journal", f"set it to {DURABLE[name]}")
    if name == "max_connections" and int(value) < CONNECTIONS_MIN:
        return doubtful(name, f"only {value}", "each worker and gateway keeps up to ten or so; raise it, or pool them")
    return fine(name, value)


async def _apart_s(driver: Driver) -> float:
    """How far the store's clock is ahead of this machine's."""
    before_s = time.time()
    store_us = await driver.read(clock)
    return store_us / SECOND_US - (before_s + time.time()) / 2


def _clocks(apart_s: float) -> Finding:
    if abs(apart_s) < CLOCK_APART_S_MAX:
        return fine("clock", f"the store's and this machine's are {abs(apart_s):.1f} s apart")
    ahead = "ahead of" if apart_s > 0 else "behind"
    said = f"the store's is {abs(apart_s):.0f} s {ahead} this machine's"
    return doubtful("clock", said, "let both keep time (NTP): deadlines follow the store's")


async def _workers(driver: Driver) -> Finding:
    alive = [one.info for one in await driver.presences() if one.liveness.state == "alive" and REDUCER in one.info]
    if not alive:
        return doubtful("workers", "none lives: turns are accepted and wait", "start `turnwright worker`")
    labels = ", ".join(sorted(f"{info.get('label')} ({info.get('version')})" for info in alive))
    if len({info.get("version") for info in alive}) > 1:
        return doubtful("workers", f"of several versions: {labels}", "finish the rollout")
    return fine("workers", labels)


def _disk(file: Path) -> Finding:
    free = shutil.disk_usage(file.parent).free
    said = f"{free / 1_000_000_000:,.1f} GB free beside {file}"
    if free < FREE_BYTES_MIN:
        return doubtful("disk", said, "make room: a journal only grows")
    return fine("disk", said)
