"""Journals on every store, with turns made as clients and workers make them, and a look at the tables from outside."""

import asyncio
import base64
import itertools
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.journals import place_of
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.commands import (
    ClaimRun,
    ClientCommand,
    CreateSession,
    Receipt,
    RequestModel,
    RespondModel,
    RunCommand,
    Submit,
)
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Block, user
from turnwright.journal.messages import Usage as Spent
from turnwright.journal.sqlite.driver import SqliteDriver
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Outcome, Terms

Sql: TypeAlias = Callable[..., Awaitable[list[tuple[Any, ...]]]]
Owned: TypeAlias = Callable[[int, list[int]], Awaitable[set[str]]]
HeldUp: TypeAlias = Callable[[asyncio.Future[Any]], Awaitable[None]]
Stored: TypeAlias = Callable[[str], Awaitable[set[str]]]
SESSION = SessionKey("t", None, "s")
KEY = ThreadKey("t", None, "agent", "s")
WORKER = "worker"
NUMBERS = itertools.count()
AGENT = AgentDefinition(name="agent", model="scripted:x", permissions=PermissionState(mode="bypass"))


@dataclass
class Played:
    """A journal, and a client and a worker who use it by hand."""

    journal: Journal

    async def execute(self, key: ThreadKey | SessionKey, command: ClientCommand) -> Receipt:
        """A command that must be accepted."""
        receipt = await self.journal.execute(key, command)
        assert receipt.status == "accepted", receipt
        return receipt

    async def run(self, key: ThreadKey, command: RunCommand) -> Outcome:
        """A run's command that must be accepted."""
        outcome = await self.journal.run(key, command)
        assert outcome.rejection is None, outcome.rejection
        return outcome

    async def submit(self, text: str, key: ThreadKey = KEY, on_failure: OnFailure | None = None) -> str:
        """Queue a turn; the request is called like its text."""
        await self.journal.execute(key.session_key, CreateSession(request_id="create"))
        turn = turn_id(key, text[:20])
        submit = Submit(request_id=text[:20], turn_id=turn, input=user(text), on_failure=on_failure)
        await self.execute(key, submit)
        return turn

    async def claim(self, turn: str, key: ThreadKey = KEY) -> int:
        """Take the turn for a new run; its epoch."""
        row = await self.journal.thread(key)
        assert row is not None
        epoch = row.control.epoch
        command = ClaimRun(turn_id=turn, run=f"run-{epoch + 1}", start_epoch=epoch, definition=AGENT)
        return (await self.run(key, command)).control.epoch

    async def ask(self, turn: str, epoch: int, key: ThreadKey = KEY, step: int = 1) -> Outcome:
        """Claim the step's model call."""
        of = {"turn_id": turn, "epoch": epoch, "step": step}
        return await self.run(key, RequestModel(**of, nonce=f"n{epoch}-{step}", presence=WORKER))  # type: ignore[arg-type]

    async def answer(self, turn: str, epoch: int, *blocks: Block, key: ThreadKey = KEY, **more: Any) -> Outcome:  # noqa: ANN401
        """Bring the answer of the first attempt of step 1."""
        given: dict[str, Any] = {"step": 1, "ordinal": 1, "usage": Spent(requests=1)} | more
        return await self.run(key, RespondModel(turn_id=turn, epoch=epoch, blocks=blocks, **given))


@pytest.fixture
async def journal(driver: Driver) -> Journal:
    """A journal whose worker lives."""
    await driver.hold_presence(WORKER, {}, lease_s=600)
    return Journal(driver, Terms(presence=WORKER))


@pytest.fixture
def played(journal: Journal) -> Played:
    return Played(journal)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Played]:
    """The journal as a process has it that was given this URL."""
    driver = open_driver(url)
    await driver.start()
    try:
        await driver.migrate()
        await driver.hold_presence(f"{WORKER}-{next(NUMBERS)}", {}, lease_s=600)
        yield Played(Journal(driver, Terms(presence=WORKER)))
    finally:
        await driver.stop()


def key_line(name: str, number: int) -> str:
    """A key in a file of keys."""
    return f"{name} {base64.b64encode(bytes([number] * 32)).decode()}"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "journal.keys"
    file.write_text(key_line("first", 1))
    return file


@pytest.fixture
def sealed_url(journal_url: str, keys: Path) -> str:
    return f"{journal_url}{'&' if '?' in journal_url else '?'}keys={keys}"


@pytest.fixture
async def sealed(sealed_url: str, played: Played) -> AsyncIterator[Played]:
    """The journal of `played`, whose process has no keys, by one that has them."""
    async with opened(sealed_url) as sealed:
        yield sealed


@pytest.fixture
def sql(journal_url: str) -> Sql:
    """Run a statement past the driver, and commit."""
    return partial(_run_sql, journal_url)


@pytest.fixture
def held_up(driver: Driver, sql: Sql) -> HeldUp:
    """Wait until a task has come to where another transaction keeps it waiting."""

    async def held_up(task: asyncio.Future[Any]) -> None:
        async with asyncio.timeout(30):
            while not (await waits()):
                assert not task.done(), "it did not wait"
                await asyncio.sleep(0.005)
        assert not task.done()

    async def waits() -> bool:
        if isinstance(driver, SqliteDriver):  # for its turn, as one thread writes
            return driver._writer is not None and bool(driver._writer._jobs)
        return bool(await sql("SELECT 1 FROM pg_locks WHERE NOT granted"))

    return held_up


@pytest.fixture
def owned(sql: Sql, journal_url: str) -> Owned:
    """The tables that have rows of a session or these threads, by their ids; whatever tables there are."""
    query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    if journal_url.startswith("sqlite"):
        query = (
            "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'"
        )

    async def owned(session_id: int, threads: list[int]) -> set[str]:
        ids = {"session_id": str(session_id), "thread_id": ",".join(map(str, threads))}
        found = set()
        for table, column in await sql(query):
            if column in ids and await sql(f"SELECT 1 FROM {table} WHERE {column} IN ({ids[column]}) LIMIT 1"):
                found.add(table)
        return found

    return owned


@pytest.fixture
def stored(sql: Sql, journal_url: str) -> Stored:
    """The tables that hold a text anywhere, whatever tables there are."""
    place = "sqlite_master WHERE type = 'table'", "information_schema.tables WHERE table_schema = current_schema()"
    column, where = ("name", place[0]) if journal_url.startswith("sqlite") else ("table_name", place[1])

    async def stored(text: str) -> set[str]:
        found = set()
        for (table,) in await sql(f"SELECT {column} FROM {where}"):
            cells = (cell for row in await sql(f"SELECT * FROM {table}") for cell in row)
            if any(text.encode() in (bytes(c) if isinstance(c, bytes) else str(c).encode()) for c in cells):
                found.add(table)
        return found

    return stored


async def _run_sql(journal_url: str, statement: str, *params: object) -> list[tuple[Any, ...]]:
    parts = urlsplit(journal_url)
    if parts.scheme == "sqlite":
        connection = sqlite3.connect(parts.path[1:])
        try:
            rows = connection.execute(re.sub(r"\$(\d)", r"?\1", statement), params).fetchall()
            connection.commit()
            return rows
        finally:
            connection.close()
    place, schema = place_of(journal_url)
    session = await asyncpg.connect(place, server_settings={"search_path": schema})
    try:
        return [tuple(row) for row in await session.fetch(statement, *params)]
    finally:
        await session.close()


@pytest.fixture
def target_url(request: pytest.FixtureRequest, journal_url: str) -> str:
    """The URL of a journal on the other store."""
    url: str = request.getfixturevalue("postgres_url" if journal_url.startswith("sqlite") else "sqlite_url")
    return url


@pytest.fixture
def sql_there(target_url: str) -> Sql:
    """Run a statement on the target."""
    return partial(_run_sql, target_url)


@pytest.fixture
async def target(target_url: str) -> AsyncIterator[Played]:
    """A journal on the other store."""
    journal = await Journal.open(target_url, migrate=True, terms=Terms(presence=WORKER))
    await journal.driver.hold_presence(WORKER, {}, lease_s=600)
    yield Played(journal)
    await journal.close()
