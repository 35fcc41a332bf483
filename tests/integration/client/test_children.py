"""A turn and its children, through the Python client: what a child asks is seen and answered at its parent."""

import pytest

from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Budget, Client, CommandRejected, NotFound, Question, Session, Turn
from turnwright.journal import why
from turnwright.journal.entries import ToolFinished
from turnwright.journal.messages import Text
from turnwright.journal.transact import overview


async def with_child(client: Client, session: Session, hands: Hands) -> tuple[Turn, Turn]:
    """A turn that waits for its child, and the child."""
    turn = await session.submit("one", agent=AGENT)
    return turn, await client.turn(await hands.open_child(turn))


async def asked_below(turn: Turn) -> Question:
    [question] = await turn.questions()
    return question


async def test_what_a_child_asks_is_seen_and_answered_at_its_parent(
    client: Client, session: Session, asking: Hands, hands: Hands
) -> None:
    turn, child = await with_child(client, session, hands)
    await asking.want_tool(child, arguments={"n": 3})
    view = await turn.status()
    assert (view.status, view.questions, [c.turn_id for c in view.children]) == ("waiting", (), [child.id])
    question = await asked_below(turn)
    assert (question.turn_id, question.arguments) == (child.id, {"n": 3})
    assert question.parent is not None
    assert question.parent.turn_id == turn.id
    [in_inbox] = (await client.inbox()).items
    assert in_inbox.parent == question.parent
    told = (await turn.why()).text
    assert told.startswith("It waits for its child.")
    assert f"Of {child.id}, its child of {AGENT}: It waits for someone to allow the call" in told
    receipt = await turn.approve(question.interaction_id, request_id="r")
    assert (receipt.status, receipt.turn_id) == ("accepted", child.id)
    assert (await turn.approve(question.interaction_id, request_id="r")).duplicate
    with pytest.raises(CommandRejected) as caught:
        await turn.deny(question.interaction_id)
    assert caught.value.code == "already_answered"
    assert await turn.questions() == ()


async def test_what_a_child_asks_is_answered_at_no_turn_that_did_not_open_it(
    client: Client, session: Session, asking: Hands, hands: Hands
) -> None:
    turn, child = await with_child(client, session, hands)
    await asking.want_tool(child)
    question = await asked_below(turn)
    other = await session.thread(AGENT, "other").submit("two")
    await hands.claim(other)
    with pytest.raises(CommandRejected) as caught:
        await other.approve(question.interaction_id)
    assert caught.value.code == "unknown_interaction"
    assert (await client.interaction(question.interaction_id)).state == "open"


async def test_a_grandchild_is_answered_at_the_turn_above_all(client: Client, session: Session, hands: Hands) -> None:
    turn, child = await with_child(client, session, hands)
    grandchild = await client.turn(await hands.open_child(child))
    asking = Hands(hands.journal, hands.presence, permissions=None)
    asking.permissions = asking.permissions.model_copy(update={"mode": "default"})
    await asking.want_tool(grandchild)
    question = await asked_below(turn)
    assert (await turn.deny(question.interaction_id)).turn_id == grandchild.id
    [seen] = (await turn.status()).children
    assert [below.turn_id for below in seen.children] == [grandchild.id]


async def test_of_a_large_family_the_nearest_are_shown_and_how_many_are_not(
    client: Client, session: Session, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await session.submit("one", agent=AGENT)
    children = await hands.open_children(turn, 4)
    await hands.open_child(await client.turn(children[0]))
    monkeypatch.setattr(overview, "CHILDREN_SEEN_MAX", 3)
    monkeypatch.setattr(overview, "FAMILY_SEEN_MAX", 3)
    view = await turn.wait(30, until=["waiting"])
    assert ([child.turn_id for child in view.children], view.children_unseen) == (children[:3], 1)
    assert [(child.children, child.children_unseen) for child in view.children] == [((), 1), ((), 0), ((), 0)]
    alone = await turn.status(children=False)
    assert (alone.status, alone.children, alone.children_unseen) == ("waiting", (), 4)


async def test_of_a_large_family_those_that_ask_are_shown_however_far_down_they_are(
    client: Client, session: Session, hands: Hands, asking: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await session.submit("one", agent=AGENT)
    children = await hands.open_children(turn, 4)
    await asking.want_tool(await client.turn(children[2]))
    last = await client.turn(children[3])
    below = await hands.open_child(last)
    await asking.want_tool(await client.turn(below))
    monkeypatch.setattr(overview, "CHILDREN_SEEN_MAX", 2)
    monkeypatch.setattr(overview, "FAMILY_SEEN_MAX", 3)
    view = await turn.status()
    assert ([child.turn_id for child in view.children], view.children_unseen) == (children[2:], 2)
    asked = await turn.questions()
    assert [question.turn_id for question in asked] == [children[2], below]
    monkeypatch.setattr(why, "CHILDREN_TOLD_MAX", 1)
    monkeypatch.setattr(overview, "CHILDREN_SEEN_MAX", 4)
    assert f"Of {children[2]}, its child" in (await turn.why()).text
    monkeypatch.setattr(overview, "CHILDREN_SEEN_MAX", 2)
    monkeypatch.setattr(overview, "FAMILY_SEEN_MAX", 2)
    for asker in (children[2], below):
        [question] = await turn.questions()
        assert question.turn_id == asker
        await turn.deny(question.interaction_id)


async def test_the_answer_of_a_child_is_taken_in_by_the_next_command_to_its_parent(
    client: Client, session: Session, hands: Hands
) -> None:
    turn, child = await with_child(client, session, hands)
    await hands.finish(child, "found it")
    await turn.steer("and be quick")
    view = await turn.status()
    assert (view.status, view.children) == ("running", ())
    [result] = [
        entry.payload
        for entry in await session.thread(AGENT).history()
        if isinstance(entry.payload, ToolFinished) and entry.payload.outcome == "success"
    ]
    assert result.output == (Text(text="found it"),)
    assert await hands.take_in(turn.key) == 0, "it was taken in once"


async def test_a_child_over_its_share_asks_at_its_parent_and_what_it_used_counts_there(
    client: Client, session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT, budget=Budget(tokens=25))
    child = await client.turn(await hands.open_child(turn))
    assert (await child.status()).row.budget == Budget(tokens=15)
    for step in (1, 2):
        await hands.finish_tool(child, await hands.call_tool(child, step), step=step)
    await hands.look(child, newest=True)
    question = await asked_below(turn)
    assert (question.kind, question.scope, question.over) == ("budget", "turn", ("tokens",))
    assert (await turn.raise_budget(question.interaction_id, Budget(tokens=100))).turn_id == child.id
    await hands.ask_model(child, 3)
    await hands.answer(child, "done", step=3)
    await hands.take_in(turn.key)
    spending = await session.thread(AGENT).budget()
    assert spending.turn is not None
    assert (spending.turn.used.tokens, spending.used.tokens) == (40, 10)
    await hands.look(turn, newest=True)
    own = await asked_below(turn)
    assert (own.turn_id, own.kind) == (turn.id, "budget")


async def test_a_cancel_before_the_child_was_queued_reaches_it(client: Client, session: Session, hands: Hands) -> None:
    turn, child = await with_child(client, session, hands)
    await turn.cancel(principal="local", reason="enough")
    assert await hands.take_in(child.key) == 1
    view = await child.status()
    assert (view.status, view.message) == ("cancelled", f"its parent, turn {turn.id}, was cancelled")
    assert await hands.take_in(turn.key) == 1, "it tells its end to nobody who waits"
    assert (await turn.status()).status == "cancelled"


async def test_a_child_and_what_it_has_to_tell_are_deleted_with_their_session(
    client: Client, session: Session, hands: Hands
) -> None:
    turn, child = await with_child(client, session, hands)
    await turn.cancel()
    await hands.take_in(child.key)
    await session.delete()
    assert await hands.take_in(turn.key) == 0
    with pytest.raises(NotFound):
        await client.turn(child.id)
