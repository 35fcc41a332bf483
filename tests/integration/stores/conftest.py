"""Beside the shared journals: a second driver, other processes, and a look at the tables from outside."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver

ROOT = Path(__file__).resolve().parents[3]

Look: TypeAlias = Callable[[str], Awaitable[list[tuple[Any, ...]]]]
Spawn: TypeAlias = Callable[..., Awaitable["Child"]]


class Child:
    """A process with a driver of its own that does what its first argument says."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def line(self) -> str:
        """The next line it prints."""
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            return (await self.process.stdout.readline()).decode().strip()

    async def lines(self) -> list[str]:
        """All whole lines it printed until it ended."""
        assert self.process.stdout is not None
        text = (await self.process.stdout.read()).decode()
        return text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


@pytest.fixture
async def spawn(journal_url: str) -> AsyncIterator[Spawn]:
    """Start `child.py` in a role on the journal of this test."""
    async with AsyncExitStack() as stack:

        async def start(*role: str) -> Child:
            command = (sys.executable, "-m", "tests.integration.stores.child", journal_url, *role)
            process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
            child = Child(process)
            stack.push_async_callback(child.kill)
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
    schema = parse_qs(parts.query)["schema"][0]
    session = await asyncpg.connect(
        journal_url.replace(f"&schema={schema}", ""), server_settings={"search_path": schema}
    )
    try:
        return [tuple(row) for row in await session.fetch(sql)]
    finally:
        await session.close()
