"""The types the public client promises; mypy reads this file, running it proves only that it can be imported."""

from collections.abc import AsyncIterator
from typing import assert_type

from turnwright.client import (
    Budget,
    Client,
    Deleted,
    Delta,
    Question,
    Session,
    SessionSpending,
    Thread,
    ThreadSpending,
    Turn,
    TurnView,
)
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import Receipt
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Message
from turnwright.journal.shown import ShownStatus
from turnwright.journal.state_parts import PermissionState
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
    assert_type(turn.live(3), AsyncIterator[Entry | Delta])
    assert_type(session.follow(), AsyncIterator[Located])
    assert_type(await client.turns(status="paused", user=None), Page[TurnSeen])
    await session.submit("x", agent="a", if_busy="later")  # type: ignore[arg-type]
    await turn.pause(why="lunch")  # type: ignore[call-arg]
    await turn.reconcile("c", "maybe", reason="seen")  # type: ignore[arg-type]


async def promises_to_people(client: Client, session: Session, thread: Thread, turn: Turn) -> None:
    """Never called."""
    assert_type(await thread.submit("x", budget=Budget(steps=3)), Turn)
    assert_type(await turn.questions(), tuple[Question, ...])
    assert_type(await client.inbox(session, kind="form", state="any"), Page[Question])
    question = await client.interaction("q")
    assert_type(question, Question)
    assert_type(client.turn_of(question), Turn)
    for answering in (client, turn):
        assert_type(await answering.approve("q", arguments={"n": 1}, always="refund", reason="fine"), Receipt)
        assert_type(await answering.deny("q", "no", always=True), Receipt)
        assert_type(await answering.answer("q", {"answer": 1}), Receipt)
        assert_type(await answering.decline("q"), Receipt)
        assert_type(await answering.deliver("q", ["x"], failed=True), Receipt)
        assert_type(await answering.raise_budget("q", Budget(tokens=5)), Receipt)
        assert_type(await answering.fail_budget("q"), Receipt)
        assert_type(await answering.respond("q", "approve", {}), Receipt)
    assert_type(await thread.permissions(), PermissionState)
    assert_type(await thread.set_permissions(mode="explore", deny=["refund"]), Receipt)
    assert_type(await thread.budget(), ThreadSpending)
    assert_type(await thread.set_budget(None, scope="turns"), Receipt)
    assert_type(await session.budget(), SessionSpending)
    assert_type(await session.set_budget(Budget(cost_microusd=1)), Receipt)
    assert_type(await thread.update_state({"summary": ""}, expected_seq=3, reason="tidy"), Receipt)
    assert_type(await thread.clear_context(), Receipt)
    assert_type(await thread.compact(), Receipt)
    assert_type(await thread.fork(3, thread="other"), Thread)
    assert_type(await thread.rewind(3, expected_seq=9), Receipt)
    assert_type(await thread.make_whole(), Receipt)
    assert_type(await thread.begin_task("x", ["y"]), Receipt)
    assert_type(await thread.erase(3), Receipt)
    assert_type(await session.delete(), Deleted)
    await thread.set_permissions(mode="anything")  # type: ignore[arg-type]
    await thread.set_budget(Budget(), scope="session")  # type: ignore[arg-type]
    await thread.update_state({})  # type: ignore[call-arg]
    await client.inbox(kind="riddle")  # type: ignore[arg-type]
    await thread.add_verification("r", True, "x")  # type: ignore[call-arg]


def test_the_promises_can_be_read() -> None:
    assert promises.__doc__
