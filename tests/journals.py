"""Empty journals with today's tables, without the work of each migration for each test.

Rule: a SQLite journal is a copy of one that was migrated once. A schema of PostgreSQL that tests are done with is
emptied for a later one, some tests later, unless its tables are no longer as migrations make them.
"""

import asyncio
import base64
import itertools
import os
import secrets
import tempfile
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import quote

import asyncpg

from turnwright.journal.drivers import open_driver
from turnwright.journal.store import Journal

T = TypeVar("T")
RESTING = 3  # of what a killed process had begun, the last may be done only now
LOCK_TIMEOUT_MS = 2_000
KEYS = "KEYS_OF_TESTS"
SHAPE = """
    SELECT md5(string_agg(line, '|' ORDER BY line)) FROM (
        SELECT concat_ws(' ', c.relname, c.relkind, c.relpersistence, c.reloptions::text, a.attname, a.atttypid,
            a.attnotnull, a.attnum) AS line
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = $1::text::regnamespace
    ) AS lines
"""
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1"
SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = $1 ORDER BY 1"


def url_of(file: Path) -> str:
    """The URL of a SQLite journal in that file."""
    return f"sqlite:///{quote(str(file))}"


def sealed_url(url: str) -> str:
    """The URL of the same journal, sealed with a key of these tests' environment."""
    os.environ.setdefault(KEYS, f"tests {base64.b64encode(b'of all the keys this is only one').decode()}")
    return f"{url}{'&' if '?' in url else '?'}keys=env:{KEYS}"


def place_of(url: str) -> tuple[str, str]:
    """The server of a PostgreSQL journal, and its schema, for who looks past the driver."""
    server, _, rest = url.partition("&schema=")
    return server, rest.partition("&")[0]


def copy_journal(file: Path) -> None:
    """Put an empty journal with an id of its own there."""
    content, journal_id = _migrated()
    file.write_bytes(content.replace(journal_id, secrets.token_hex(len(journal_id) // 2).encode()))


@cache
def _migrated() -> tuple[bytes, bytes]:
    """A file that was migrated, and the id that stands in it once."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.db"
        with ThreadPoolExecutor(1) as apart:  # whoever asks may have a loop that runs
            journal_id = apart.submit(asyncio.run, _migrate(url_of(file))).result().encode()
        content = file.read_bytes()
    assert content.count(journal_id) == 1
    return content, journal_id


async def _migrate(url: str) -> str:
    """Bring it up to date; its id."""
    driver = open_driver(url)
    await driver.start()
    try:
        await driver.migrate()
        return await Journal(driver).journal_id()
    finally:
        await driver.stop()


class Schemas:
    """The schemas of one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._used: deque[str] = deque()
        self._shape: tuple[str, int] = ("", 0)
        self._empty = ""
        self._connection: asyncpg.Connection[Any] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def name(self) -> str:
        """One that does not exist yet."""
        return f"test_{next(self._numbers)}"

    def take(self) -> str:
        """One with an empty journal."""
        return self._do(self._take())

    def give_back(self, schema: str) -> None:
        """The test is done with it."""
        self._used.append(schema)

    def close(self) -> None:
        """Before the server ends."""
        if self._connection is not None:
            self._do(self._connection.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _take(self) -> str:
        while len(self._used) > RESTING:
            if await self._emptied(schema := self._used.popleft()):
                return schema
        schema = self.name()
        await _migrate(f"{self._server}&schema={schema}")
        return schema

    async def _emptied(self, schema: str) -> bool:
        """Whether it is as a migrated one now."""
        connection = await self._connected()
        if not self._empty:
            await self._learn(connection)
        if await _shape_of(connection, schema) != self._shape:
            return False
        try:
            await connection.execute(f"SET search_path = {schema}; {self._empty}")
        except asyncpg.LockNotAvailableError:  # somebody of the test that had it still works
            return False
        await connection.execute("INSERT INTO meta VALUES ('journal_id', $1)", secrets.token_hex(8))
        return True

    async def _connected(self) -> "asyncpg.Connection[Any]":
        """The same for all, until a test ends every connection."""
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._server)
            await self._connection.execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")
        return self._connection

    async def _learn(self, connection: "asyncpg.Connection[Any]") -> None:
        """What a migrated schema looks like, and what empties it."""
        pattern = self.name()
        await _migrate(f"{self._server}&schema={pattern}")
        self._shape = await _shape_of(connection, pattern)
        tables = [name for (name,) in await connection.fetch(TABLES, pattern) if name != "migrations"]
        sequences = [name for (name,) in await connection.fetch(SEQUENCES, pattern)]
        deletes = [f"DELETE FROM {table}" for table in tables]
        self._empty = "; ".join([*deletes, *(f"SELECT setval('{name}', 1, false)" for name in sequences)])
        self._used.append(pattern)


async def _shape_of(connection: "asyncpg.Connection[Any]", schema: str) -> tuple[str, int]:
    """What tells a schema that was changed otherwise than by today's migrations."""
    version = await connection.fetchval(f"SELECT max(version) FROM {schema}.migrations")
    return await connection.fetchval(SHAPE, schema), version
