"""The types the public client promises; mypy reads this file, running it proves only that it can be imported."""

from collections.abc import AsyncIterator
from typing import assert_type

from turnwright.client import Client, Session, Thread, Turn, TurnView
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import Receipt
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Message
from turnwright.journal.shown import ShownStatus
from turnwright.journal.transact.listing import Page, TurnSeen
from turnwright.journal.transact.reading import Located
from turnwright.journal.why import Why


async def promises() -> None:
    """Never called."""
    async with Client.connect(journal_url="sqlite:///x.db") as entered:
        assert_type(entered, Client)
    client = await Client.connect(tenant="acme", principal="ann")
    assert_type(client, Client)
    session = client.session(None, "s")
    assert_type(session, Session)
    assert_type(await session.create(exist_ok=True), Receipt)
    assert_type(session.thread("a"), Thread)
    assert_type(await session.thread("a").state(3), AgentState)
    turn = await session.submit("x", agent="a", if_busy="reject", on_failure="hold", request_id="r", check=False)
    assert_type(turn, Turn)
    assert_type(turn.receipt, Receipt | None)
    assert_type(await turn.status(), TurnView)
    assert_type((await turn.wait(1.0)).status, ShownStatus)
    assert_type(await turn.result(), Message)
    assert_type(await turn.why(), Why)
    assert_type(turn.events(3), AsyncIterator[Entry])
    assert_type(session.follow(), AsyncIterator[Located])
    assert_type(await client.turns(status="paused", user=None), Page[TurnSeen])
    await session.submit("x", agent="a", if_busy="later")  # type: ignore[arg-type]
    await turn.pause(why="lunch")  # type: ignore[call-arg]
    await turn.reconcile("c", "maybe")  # type: ignore[arg-type]


def test_the_promises_can_be_read() -> None:
    assert promises.__doc__
