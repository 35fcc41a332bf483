"""A peer: the whole state of a conversation in one row, read before a turn and written over after each message.

Rule: it is as fast as we can make it: the state stays in memory within a turn, and is written with C's JSON encoder.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any, Protocol

import asyncpg

from benchmarks.history import size_of
from benchmarks.kept import Clock, Kept, by_two
from benchmarks.step import RESULT_BYTES


class Rows(Protocol):
    """One table of states by key."""

    what: str

    async def load(self, key: str) -> list[Any]:
        """The messages of it; none if there is no such state."""
        ...

    async def save(self, key: str, messages: list[Any]) -> None:
        """Write all of them over what was there, committed."""
        ...

    async def stored_bytes(self) -> int:
        """What the table takes."""
        ...


class WholeState:
    """The keeper on either kind of rows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.what = f"whole-state upsert, {rows.what}"

    async def play(self, clock: Clock) -> Kept:
        """The state is saved after the model's message and after the tool's."""
        key, messages = f"steps-{clock.steps}", [{"role": "user", "text": "begin"}]
        before = await self._rows.stored_bytes()
        clock.tick()
        while not clock.is_over:
            call = {"id": f"call-{clock.done}", "name": "fetch", "arguments": {"page": clock.done}}
            messages.append({"role": "assistant", "call": call})  # type: ignore[dict-item]
            await self._rows.save(key, messages)
            messages.append({"role": "tool", "call_id": call["id"], "text": "x" * RESULT_BYTES})  # type: ignore[dict-item]
            await self._rows.save(key, messages)
            clock.tick()
        return Kept.of(clock, await self._rows.stored_bytes() - before)

    async def lose(self, messages: int) -> float:
        """Each writer loads, adds and saves, as such stores are used."""

        async def add(writer: int, number: int) -> None:
            state = await self._rows.load("shared")
            await asyncio.sleep(0)  # where the model's answer would be awaited
            await self._rows.save("shared", [*state, f"{writer}/{number}"])

        acknowledged = await by_two(messages, add)
        return 1 - len(await self._rows.load("shared")) / acknowledged


class SqliteRows:
    """Rows in a file, each save synced."""

    what = "SQLite"

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; "
            "CREATE TABLE states (id TEXT PRIMARY KEY, body BLOB NOT NULL)"
        )

    async def load(self, key: str) -> list[Any]:
        """The messages of that row."""
        row = self._connection.execute("SELECT body FROM states WHERE id = ?", (key,)).fetchone()
        return list(json.loads(row[0])) if row else []

    async def save(self, key: str, messages: list[Any]) -> None:
        """One statement."""
        self._connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?)", (key, json.dumps(messages).encode()))

    async def stored_bytes(self) -> int:
        """The file's size."""
        return size_of(self._file)

    async def close(self) -> None:
        """Close the file."""
        self._connection.close()


class PostgresRows:
    """Rows in a database of their own; a body is not compressed, as the journal's are not."""

    what = "PostgreSQL"

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    @classmethod
    async def open(cls, url: str) -> PostgresRows:
        """Connect, and make the table."""
        pool = await asyncpg.create_pool(url, min_size=1, max_size=2)
        await pool.execute("CREATE TABLE states (id text PRIMARY KEY, body bytea STORAGE EXTERNAL NOT NULL)")
        return cls(pool)

    async def load(self, key: str) -> list[Any]:
        """The messages of that row."""
        body = await self._pool.fetchval("SELECT body FROM states WHERE id = $1", key)
        return list(json.loads(body)) if body else []

    async def save(self, key: str, messages: list[Any]) -> None:
        """One statement."""
        body = json.dumps(messages).encode()
        await self._pool.execute(
            "INSERT INTO states VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body", key, body
        )

    async def stored_bytes(self) -> int:
        """The table with what is stored beside it, versions that nobody sees any more included."""
        return int(await self._pool.fetchval("SELECT pg_total_relation_size('states')"))

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()
