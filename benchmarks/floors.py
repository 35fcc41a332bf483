"""Floors: the least that a durable append can cost, a bare INSERT with the same durability.

Rule: a floor is as fast as we can make it. SQLite is called in place, PostgreSQL commits with the statement
itself, and the table has no index but its key.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any, Protocol

import asyncpg

POOL_CONNECTIONS = 10


class Floor(Protocol):
    """The least a durable append can cost on a store."""

    @property
    def what(self) -> str:
        """Its name in the results."""
        ...

    async def insert(self, body: bytes) -> None:
        """One row, committed."""
        ...

    async def read(self, bodies: int) -> int:
        """Read so many rows, newest first; how many bytes they were."""
        ...


class SqliteFloor:
    """An INSERT in place, in the caller's thread: no hop, no queue, no group."""

    what = "bare SQLite INSERT, synchronous=FULL"

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; "
            "CREATE TABLE floor (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"
        )

    async def insert(self, body: bytes) -> None:
        """One row, committed."""
        self._connection.execute("INSERT INTO floor (body) VALUES (?)", (body,))

    async def read(self, bodies: int) -> int:
        """Read so many rows."""
        rows = self._connection.execute("SELECT body FROM floor ORDER BY id DESC LIMIT ?", (bodies,)).fetchall()
        return sum(len(row[0]) for row in rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class PostgresFloor:
    """An INSERT that commits by itself, on a pool as large as the journal's."""

    what = "bare PostgreSQL INSERT, asyncpg"

    def __init__(self, pool: Any) -> None:  # noqa: ANN401 - asyncpg has no types
        self._pool = pool

    @classmethod
    async def open(cls, dsn: str) -> PostgresFloor:
        """Connect and make the table."""
        pool = await asyncpg.create_pool(dsn, min_size=1, max_size=POOL_CONNECTIONS, reset=_keep)
        table = "CREATE TABLE floor (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)"
        await pool.execute(f"{table}; ALTER TABLE floor ALTER COLUMN body SET STORAGE EXTERNAL")
        return cls(pool)

    async def insert(self, body: bytes) -> None:
        """One row, committed."""
        await self._pool.execute("INSERT INTO floor (body) VALUES ($1)", body)

    async def read(self, bodies: int) -> int:
        """Read so many rows."""
        rows = await self._pool.fetch("SELECT body FROM floor ORDER BY id DESC LIMIT $1", bodies)
        return sum(len(row[0]) for row in rows)

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()


class FileFloor:
    """Bytes at the end of a plain file and one `fdatasync`: what any store on this disk pays."""

    what = "write and fdatasync on a plain file"

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)

    async def insert(self, body: bytes) -> None:
        """Append, and wait until the disk has it."""
        self._file.write(body)
        os.fdatasync(self._file.fileno())

    async def read(self, bodies: int) -> int:
        """It is never read."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        self._file.close()


async def _keep(_: object) -> None:
    """Leave a connection as it is: nothing is to be reset."""
