"""A journal, a ledger and workers of its own for each test, on the Temporal of all or on one to be hurt."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer


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
async def doomed_world(journal_url: str, tmp_path: Path, mortal: TemporalServer) -> AsyncIterator[World]:
    """On that."""
    async with World.open(journal_url, tmp_path, mortal) as world:
        yield world


@pytest.fixture
async def small_doomed_world(sqlite_url: str, tmp_path: Path, mortal: TemporalServer) -> AsyncIterator[World]:
    """On that and SQLite."""
    async with World.open(sqlite_url, tmp_path, mortal) as world:
        yield world
