"""A place for snapshots of each kind, empty, and as many stores on it as a test opens."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.integration.snapshots.servers import running_mariadb, running_redis
from turnwright.journal.snapshots.opening import snapshots_at
from turnwright.journal.snapshots.port import SnapshotStore

KINDS = ("memory", "file", "redis", "postgres", "mariadb", "sqlite")
Opener: TypeAlias = Callable[[], Awaitable[SnapshotStore]]
_places = itertools.count(1)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    with running_redis() as url:
        yield url


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    with running_mariadb() as url:
        yield url


@pytest.fixture
def memory_place() -> str:
    return "memory:"


@pytest.fixture
def file_place(tmp_path: Path) -> str:
    return f"file://{tmp_path}/snapshots"


@pytest.fixture
def redis_place(redis_server: str) -> str:
    return f"{redis_server}?prefix=place-{next(_places)}*:"


@pytest.fixture
def postgres_place(postgres_server: str) -> str:
    return f"{postgres_server.replace('postgresql', 'postgresql+asyncpg', 1)}&table=place_{next(_places)}"


@pytest.fixture
def mariadb_place(mariadb_server: str) -> str:
    return f"{mariadb_server}&table=place_{next(_places)}"


@pytest.fixture
def sqlite_place(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/snapshots.db"


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> str:
    """The URL of an empty place; a test with this runs on every store."""
    url: str = request.getfixturevalue(f"{request.param}_place")
    return url


@pytest.fixture
async def opener(place: str) -> AsyncIterator[Opener]:
    """Opens one more store on the place, as another process would."""
    async with AsyncExitStack() as stack:
        only = snapshots_at(place)

        async def open_one() -> SnapshotStore:
            store = only if place == "memory:" else snapshots_at(place)
            stack.push_async_callback(store.stop)
            await store.start()
            return store

        yield open_one


@pytest.fixture
async def store(opener: Opener) -> SnapshotStore:
    return await opener()
