"""A journal with turns in the states a sweeper meets, other processes, and a rouser that writes down."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.forked import Speaking, start_speaking
from tests.journals import place_of
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.commands import ClaimRun, CreateSession, RequestModel, Submit
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.sweeping import Suspect
from turnwright.worker.rousing import EngineAway

DEADLINE_S = 30
Spawn: TypeAlias = Callable[..., Awaitable[Speaking]]
Sql: TypeAlias = Callable[..., Awaitable[list[tuple[Any, ...]]]]


@dataclass
class Roused:
    """A rouser that writes down whom it was told to rouse; `away`: as if Temporal did not answer."""

    away: bool = False
    suspects: list[Suspect] = field(default_factory=list)
    refused: int = 0

    async def rouse(self, suspect: Suspect) -> None:
        if self.away:
            self.refused += 1
            raise EngineAway("nobody answers")
        self.suspects.append(suspect)

    @property
    def threads(self) -> list[str]:
        return [suspect.key.thread for suspect in self.suspects]


@dataclass
class Seeds:
    """Makes sessions and turns."""

    journal: Journal

    async def thread(self, name: str, session: str = "s") -> ThreadKey:
        """A thread with one queued turn."""
        key = ThreadKey("t", None, "agent", session, name)
        await self.journal.execute(key.session_key, CreateSession(request_id=f"create {session}"))
        await self.submit(key)
        return key

    async def submit(self, key: ThreadKey, request: str = "first") -> str:
        turn = turn_id(key, request)
        receipt = await self.journal.execute(key, Submit(request_id=request, turn_id=turn, input=user("hello")))
        assert receipt.status == "accepted", receipt
        return turn

    async def started(self, name: str, session: str = "s") -> ThreadKey:
        """A thread whose turn was claimed by a run."""
        key = await self.thread(name, session)
        definition = AgentDefinition(name="agent", model="scripted:x", permissions=PermissionState(mode="bypass"))
        command = ClaimRun(turn_id=turn_id(key, "first"), run=f"run-{name}", start_epoch=0, definition=definition)
        outcome = await self.journal.run(key, command)
        assert outcome.rejection is None, outcome.rejection
        return key

    async def calling(self, name: str, presence: str, session: str = "s") -> ThreadKey:
        """A thread with a model call that this presence has claimed."""
        key = await self.started(name, session)
        claim = RequestModel(turn_id=turn_id(key, "first"), epoch=1, step=1, nonce="n", presence=presence)
        outcome = await self.journal.run(key, claim)
        assert outcome.rejection is None, outcome.rejection
        return key

    async def orphaned(self, name: str, session: str = "s") -> ThreadKey:
        """A thread with a model call whose worker died."""
        hold = await self.journal.driver.hold_presence(f"dead-{name}", {}, lease_s=60)
        key = await self.calling(name, hold.name, session)
        await hold.release()
        return key


@pytest.fixture
def sql(journal_url: str) -> Sql:
    """Run a statement past the driver, and commit."""
    return partial(run_sql, journal_url)


async def run_sql(journal_url: str, statement: str, *params: object) -> list[tuple[Any, ...]]:
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
def journal(driver: Driver) -> Journal:
    return Journal(driver)


@pytest.fixture
def seeds(journal: Journal) -> Seeds:
    return Seeds(journal)


@pytest.fixture
def roused() -> Roused:
    return Roused()


@pytest.fixture
async def spawn(journal_url: str, driver: Driver) -> AsyncIterator[Spawn]:
    """Start `child.py` in a role on the journal of this test."""
    async with AsyncExitStack() as stack:

        async def start(*role: str) -> Speaking:
            child = await start_speaking("tests.integration.worker.child", [journal_url, *role])
            stack.callback(child.end)
            return child

        yield start


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(DEADLINE_S):
        while not holds():
            await asyncio.sleep(0.01)
