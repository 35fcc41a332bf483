"""Clients of one journal, with nothing at the address they are told for Temporal, and a worker's hands.

What a client does is the same whether it reads the journal itself or speaks to a gateway, so the tests of `BOTH` are
played both ways.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeAlias

import pytest
import structlog

from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import NOBODY_THERE, application
from tests.integration.client.terminal import Run, invoke
from turnwright.client import Client, Session
from turnwright.journal.api_keys import Grant
from turnwright.journal.driver import Driver
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.store_keys import create_key
from turnwright.journal.transact.serving import begin_serving
from turnwright.journal.transact.thread_script import Terms

PRESENCE = "w-hands"

Connect: TypeAlias = Callable[..., Awaitable[Client]]


BOTH = frozenset(
    f"tests.integration.client.test_{name}"
    for name in (
        "administration",
        "children",
        "elsewhere",
        "commands",
        "lists",
        "live",
        "moving",
        "questions",
        "reading",
        "schedules",
        "unknown_outcomes",
        "waiting",
        "webhooks",
    )
)


# What is not the same: a gateway sends wake-ups itself, says who acts, and is asked for a turn by its id alone.
DIRECT = frozenset({
    "test_a_wake_up_that_could_not_be_sent_is_told_and_is_no_error",
    "test_who_did_it_and_why_stand_in_the_entries",
    "test_permissions_are_changed_in_words_and_each_rule_says_who_set_it",
    "test_a_trusted_caller_settles_what_the_work_is_and_what_was_checked",
    "test_a_question_says_what_is_asked_and_an_id_is_enough_to_approve_it",
    "test_a_question_is_answered_once_and_who_is_late_is_told_who_was_first",
    "test_nothing_is_accepted_for_what_does_not_exist",
    "test_the_terminal_makes_and_shows_them",
    "test_the_terminal_says_what_is_wrong",
})  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play what is the same both ways both ways."""
    if (
        "through" in metafunc.fixturenames
        and metafunc.module.__name__ in BOTH
        and metafunc.function.__name__ not in DIRECT
    ):
        metafunc.parametrize("through", ["journal", "gateway"], indirect=True)


@pytest.fixture
def through(request: pytest.FixtureRequest) -> str:
    """What clients are connected to."""
    return str(getattr(request, "param", "journal"))


@pytest.fixture
async def connect(driver: Driver, journal_url: str, through: str) -> AsyncIterator[Connect]:
    """Connect another client, as another process would; the journal exists and Temporal does not."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(settings_of(journal_url))) if through == "gateway" else None

        async def connect(**settings: str) -> Client:
            given = {"journal_url": journal_url, "tenant": "acme", "temporal_address": NOBODY_THERE, **settings}
            if url is not None:
                grant = Grant(name=given.get("principal", "local"), role="admin")
                made = await create_key(driver, given["tenant"], grant)
                given = {"gateway_url": url, "token": made.token}
            return await stack.enter_async_context(Client.connect(**given))  # type: ignore[arg-type]

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
    await driver.hold_presence(PRESENCE, {"label": "hands", "agents": [AGENT], "lease_s": 60}, lease_s=60)
    await driver.write(partial(begin_serving, PRESENCE, "cluster/namespace", await Journal(driver).journal_id()))
    return Hands(Journal(driver, Terms(presence=PRESENCE)), PRESENCE)


@pytest.fixture
async def asking(driver: Driver, hands: Hands) -> Hands:
    """The same worker, for agents that must ask before they call a tool."""
    return Hands(hands.journal, PRESENCE, PermissionState())
