"""A conversation from elsewhere begins a thread: it goes on, is found, is brought once, and goes out again."""

import base64
import json
from typing import Any

import pytest

from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Client, CommandRejected, InvalidInput, NotFound, Session
from turnwright.journal.elsewhere.difference import difference
from turnwright.journal.messages import Media
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.view import request_messages

PICTURE = b"\x89PNG\r\n\x1a\n"
PIXEL = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
ASKED = {"id": "a", "type": "function", "function": {"name": "ledger", "arguments": '{"n": 1}'}}
CHAT: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Which parcel?"}, {"type": "image_url", "image_url": PIXEL}]},
    {"role": "assistant", "content": "The violet one.", "tool_calls": [ASKED]},
]
STATE: dict[str, Any] = {
    "session_id": "theirs",
    "user_id": "bob",
    "reply_id": "r1",
    "of_tomorrow": {"a": [1, 2.5, None]},
    "context": [
        {
            "id": "m1", "name": "bob", "role": "USER", "metadata": {}, "timestamp": "2026-03-01 10:00:00.123",
            "content": [
                {"type": "text", "text": "hello"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL[22:]}},
            ],
        }
    ],
    "permission_context": {
        "mode": "bypass",
        "deny_rules": {"refund": [{"tool_name": "refund", "rule_content": None, "behavior": "deny", "source": "u"}]},
    },
    "plan_mode_context": {"plan_active": True, "current_plan_file": "/srv/plan.md"},
}  # fmt: skip


async def test_an_imported_conversation_goes_on_and_the_model_is_sent_all_of_it(session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    brought = await thread.import_conversation("openai", json.dumps(CHAT), reason="moved")
    assert (brought.receipt.status, brought.messages) == ("accepted", 4)
    assert [note.text for note in brought.notes] == ["the call 'a' of ledger had no result: it is interrupted"]
    types = [entry.type for entry in await thread.history()]
    assert types == ["thread.imported", *["message.imported"] * 4]
    turn = await thread.submit("Where were we?")
    await hands.finish(turn, "At the parcel.")
    state = await thread.state()
    assert [message.role for message in request_messages(state)] == [
        "system", "user", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    assert len({message.seq for message in state.context}) == 6
    (_, picture) = state.context[1].blocks
    assert isinstance(picture, Media)
    assert await session.blob(picture.blob or "") == PICTURE
    assert [finding async for proof in verify(hands.journal) for finding in proof.findings] == []


async def test_an_imported_text_is_found(client: Client, session: Session) -> None:
    await session.thread(AGENT).import_conversation("openai", CHAT)
    [hit] = (await client.search("violet")).items
    assert (hit.key.agent, hit.role, hit.seq) == (AGENT, "assistant", 4)
    assert (await client.search("interrupted")).items == ()


async def test_an_import_is_done_once_and_only_on_a_thread_that_is_new(session: Session) -> None:
    thread = session.thread(AGENT)
    first = await thread.import_conversation("openai", CHAT, request_id="r")
    again = await thread.import_conversation("openai", json.dumps(CHAT, indent=2), request_id="r")
    assert (first.receipt.duplicate, again.receipt.duplicate, again.receipt.seq) == (False, True, first.receipt.seq)
    for document, request_id, code in ((CHAT[:2], "r", "request_id_reused"), (CHAT, "s", "thread_exists")):
        with pytest.raises(CommandRejected) as refused:
            await thread.import_conversation("openai", document, request_id=request_id)
        assert refused.value.code == code
    assert len(await thread.history()) == 5


async def test_what_cannot_be_brought_leaves_no_thread(client: Client, session: Session) -> None:
    thread = session.thread(AGENT)
    with pytest.raises(InvalidInput, match=r"messages\[0\]\.role: "):
        await thread.import_conversation("openai", [{"role": "friend", "content": "a"}])
    with pytest.raises(InvalidInput, match="names no time zone"):
        await thread.import_conversation("agentscope", STATE)
    with pytest.raises(NotFound):
        await thread.status()
    with pytest.raises(NotFound):
        await thread.export_conversation()
    with pytest.raises(CommandRejected, match="no session"):
        await client.session("ann", "nowhere").thread(AGENT).import_conversation("openai", CHAT)


async def test_a_state_of_agentscope_comes_back_whole_and_loosens_nothing_unasked(
    session: Session, hands: Hands
) -> None:
    thread = session.thread(AGENT)
    await thread.import_conversation("agentscope", STATE, time_zone="Europe/Berlin")
    status = await thread.status()
    assert (status.control.planning, status.control.permissions.mode) == (True, "default")
    assert difference(STATE, await thread.export_conversation("agentscope")) is None
    await hands.finish(await thread.submit("go on"))
    state, control = await thread.state(), (await thread.status()).control
    assert state.permissions == control.permissions
    assert (control.permissions.mode, [rule.tool for rule in control.permissions.deny]) == ("bypass", ["refund"])
    assert [message.role for message in state.context] == ["user", "user", "assistant"]
    assert state == await Journal(hands.journal.driver).state(thread.key)


async def test_what_a_document_allows_is_taken_on_somebodys_word(session: Session, asking: Hands) -> None:
    thread = session.thread(AGENT)
    await thread.import_conversation("agentscope", STATE, time_zone="UTC", trust_permissions=True)
    await asking.finish(await thread.submit("go on"))
    assert (await thread.permissions()).mode == "bypass"


async def test_one_imported_message_can_be_erased(session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    await thread.import_conversation("openai", CHAT)
    await thread.erase(3, reason="a picture of somebody")
    assert [message.role for message in (await thread.state()).context] == ["system", "assistant", "tool"]
    assert [finding async for proof in verify(hands.journal) for finding in proof.findings] == []
