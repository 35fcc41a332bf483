"""A journal of its own, and so workflow ids of its own, for each test."""

import warnings
from collections.abc import AsyncIterator

import pytest

from tests.integration.runtime.cluster import Cluster
from turnwright.worker.temporal_server import TemporalServer


@pytest.fixture(autouse=True)
def _late_cancels() -> None:
    """The SDK remarks on a cancel that arrives when its activity has just ended; as an error it ends the worker."""
    warnings.filterwarnings("ignore", message="Cannot find activity to cancel")


@pytest.fixture
async def cluster(journal_url: str, temporal: TemporalServer) -> AsyncIterator[Cluster]:
    """An empty journal on each store, without workers yet."""
    async with Cluster.open(journal_url, temporal.address) as cluster:
        yield cluster


@pytest.fixture
async def small_cluster(sqlite_url: str, temporal: TemporalServer) -> AsyncIterator[Cluster]:
    """An empty journal on SQLite, for what does not depend on the store."""
    async with Cluster.open(sqlite_url, temporal.address) as cluster:
        yield cluster
