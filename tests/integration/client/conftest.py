"""Clients of one journal, with nothing at the address they are told for Temporal, and a worker's hands."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeAlias

import pytest
import structlog

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import NOBODY_THERE, application
from tests.integration.client.terminal import Run, invoke
from turnwright.client import Client, Session
from turnwright.journal.driver import Driver
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import begin_serving
from turnwright.journal.transact.thread_script import Terms

PRESENCE = "w-hands"

Connect: TypeAlias = Callable[..., Awaitable[Client]]


@pytest.fixture
async def connect(driver: Driver, journal_url: str) -> AsyncIterator[Connect]:
    """Connect another client, as another process would; the journal exists and Temporal does not."""
    async with AsyncExitStack() as stack:

        async def connect(**settings: str) -> Client:
            given = {"journal_url": journal_url, "tenant": "acme", "temporal_address": NOBODY_THERE}
            return await stack.enter_async_context(Client.connect(**{**given, **settings}))  # type: ignore[arg-type]

        yield connect


@pytest.fixture
def run(driver: Driver, journal_url: str) -> Iterator[Run]:
    """Run a command of the terminal. It sets up logs on the standard error it is given."""
    structlog.reset_defaults()
    yield lambda *words, given=None: invoke(application(journal_url), *words, given=given)
    structlog.reset_defaults()


@pytest.fixture
async def client(connect: Connect) -> Client:
    """A client."""
    return await connect()


@pytest.fixture
async def session(client: Client) -> Session:
    """A session that exists."""
    session = client.session("ann", "s")
    await session.create(title="A session")
    return session


@pytest.fixture
async def hands(driver: Driver) -> Hands:
    """A worker that lives and knows the agent."""
    await driver.hold_presence(PRESENCE, {"label": "hands", "agents": [AGENT]}, lease_s=60)
    await driver.write(partial(begin_serving, PRESENCE, "cluster/namespace", await Journal(driver).journal_id()))
    return Hands(Journal(driver, Terms(presence=PRESENCE)), PRESENCE)


@pytest.fixture
async def asking(driver: Driver, hands: Hands) -> Hands:
    """The same worker, for agents that must ask before they call a tool."""
    return Hands(hands.journal, PRESENCE, PermissionState())
