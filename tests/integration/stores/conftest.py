"""Beside the shared journals: a second driver, other processes, and a look at the tables from outside."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.forked import Speaking, start_speaking
from tests.journals import place_of
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver

Look: TypeAlias = Callable[[str], Awaitable[list[tuple[Any, ...]]]]
Spawn: TypeAlias = Callable[..., Awaitable[Speaking]]


@pytest.fixture
async def spawn(journal_url: str) -> AsyncIterator[Spawn]:
    """Start `child.py` in a role on the journal of this test."""
    async with AsyncExitStack() as stack:

        async def start(*role: str) -> Speaking:
            child = await start_speaking("tests.integration.stores.child", [journal_url, *role])
            stack.callback(child.end)
            return child

        yield start


@pytest.fixture
async def other(driver: Driver, journal_url: str) -> AsyncIterator[Driver]:
    """A second driver on the same journal, as another process has one."""
    other = open_driver(journal_url)
    await other.start()
    yield other
    await other.stop()


@pytest.fixture
def look(journal_url: str) -> Look:
    """Run a statement past the driver."""
    return lambda sql: look_at(journal_url, sql)


async def look_at(journal_url: str, sql: str) -> list[tuple[Any, ...]]:
    parts = urlsplit(journal_url)
    if parts.scheme == "sqlite":
        connection = sqlite3.connect(parts.path[1:])
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()
    server, schema = place_of(journal_url)
    session = await asyncpg.connect(server, server_settings={"search_path": schema})
    try:
        return [tuple(row) for row in await session.fetch(sql)]
    finally:
        await session.close()
