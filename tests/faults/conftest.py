"""One real Temporal for these tests; a journal, a ledger and workers of its own for each."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer


@pytest.fixture(scope="session")
def temporal() -> Iterator[TemporalServer]:
    """The server that nobody hurts."""
    server = TemporalServer()
    asyncio.run(server.start())
    try:
        yield server
    finally:
        asyncio.run(server.stop())


@pytest.fixture
async def world(journal_url: str, tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[World]:
    """On each store."""
    async with World.open(journal_url, tmp_path, temporal) as world:
        yield world


@pytest.fixture
async def small_world(sqlite_url: str, tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[World]:
    """On SQLite, for what does not depend on the store."""
    async with World.open(sqlite_url, tmp_path, temporal) as world:
        yield world


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[TemporalServer]:
    """A Temporal of the test's own, which keeps its data in a file."""
    async with TemporalServer(tmp_path / "temporal" / "data.db") as server:
        yield server


@pytest.fixture
async def doomed_world(journal_url: str, tmp_path: Path, mortal: TemporalServer) -> AsyncIterator[World]:
    """On that."""
    async with World.open(journal_url, tmp_path, mortal) as world:
        yield world


@pytest.fixture
async def small_doomed_world(sqlite_url: str, tmp_path: Path, mortal: TemporalServer) -> AsyncIterator[World]:
    """On that and SQLite."""
    async with World.open(sqlite_url, tmp_path, mortal) as world:
        yield world
