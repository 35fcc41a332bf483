"""Hosts for all tests of this process, with their database and Temporal; each test has a journal of its own on them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.harness.world import World
from tests.faults.hosts.deployment import HOSTS, Deployment
from tests.faults.hosts.network import Network
from tests.faults.hosts.servers import Database, TemporalOnHost, running_database


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    """Where nobody may make one, the test is skipped."""
    with ExitStack() as stack:
        try:
            network = stack.enter_context(Network.open(*HOSTS))
        except OSError as error:
            pytest.skip(f"no network can be made here ({error}); root may, in a container with CAP_NET_ADMIN and more")
        yield network


@pytest.fixture(scope="session")
def database_on_host(network: Network) -> Iterator[Database]:
    """A PostgreSQL on its host."""
    with (
        tempfile.TemporaryDirectory(prefix="turnwright-hosts-", ignore_cleanup_errors=True) as folder,
        running_database(network["database"], Path(folder)) as database,
    ):
        yield database


@pytest.fixture(scope="session")
def temporal_on_host(network: Network) -> Iterator[TemporalOnHost]:
    """A Temporal on its host."""
    server = TemporalOnHost(network["temporal"])
    asyncio.run(server.start())
    try:
        yield server
    finally:
        asyncio.run(server.stop())


@pytest.fixture
async def deployment(
    network: Network, database_on_host: Database, temporal_on_host: TemporalOnHost, tmp_path: Path
) -> AsyncIterator[Deployment]:
    """An empty journal; the network is whole again afterwards."""
    schema = database_on_host.fresh_schema()
    async with World.open(database_on_host.seen(schema), tmp_path, temporal_on_host) as world:
        try:
            yield Deployment(network, world, database_on_host.reached(schema), tmp_path)
        finally:
            network.heal()
