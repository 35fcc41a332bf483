"""A thread begins anew at any message that was brought to it, although it had no agent by then."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.journal.conftest import AGENT, KEY, SESSION, Played
from tests.integration.journal.forking import fork, fresh, head, rewind, said, texts
from tests.integration.journal.moving import proven, take, written
from turnwright.journal.commands import CreateSession, ImportThread, Inject, UpdateState
from turnwright.journal.messages import NO_ENTRY, Message, Text, ToolCall, ToolResult, user
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store_import import Target
from turnwright.journal.store_verify import rebuild

THEIRS = PermissionState(deny=(parse_rule("refund", "theirs"),))
BROUGHT = ("one", "yes", "two", "no")
FIRST = 3  # behind what says where the conversation is from, and its permissions


@pytest.fixture
async def brought(played: Played) -> Played:
    """A thread that begins with a conversation from elsewhere, and has had no turn."""
    await played.execute(SESSION, CreateSession(request_id="create"))
    messages = [
        user(text) if n % 2 == 0 else Message(role="assistant", blocks=(Text(text=text),))
        for n, text in enumerate(BROUGHT)
    ]
    state = {"permissions": THEIRS.model_dump(), "summary": "so far"}
    begin = ImportThread(request_id="bring", source="openai", digest="", messages=tuple(messages), state=state)
    await played.execute(KEY, begin)
    return played


@pytest.mark.parametrize("opened", [False, True])
async def test_a_conversation_from_elsewhere_is_forked_at_each_of_its_messages(
    brought: Played, *, opened: bool
) -> None:
    journal = brought.journal
    if opened:
        await said(brought, "a turn of the origin")
    for n in range(len(BROUGHT)):
        forked = await fork(brought, FIRST + n, f"f{n}")
        state, row = await fresh(journal, forked), await journal.thread(forked)
        assert row is not None
        assert (state.agent, row.control.opened) == (None, False)
        assert (texts(state), state.summary) == ([*BROUGHT[: n + 1]], "so far")
        assert state.permissions == row.control.permissions == THEIRS
        await said(brought, f"next {n}", forked)
        state, row = await fresh(journal, forked), await journal.thread(forked)
        assert row is not None
        assert (texts(state), state.agent) == ([*BROUGHT[: n + 1], f"next {n}", "ok"], AGENT)
        assert state.permissions == row.control.permissions == THEIRS.model_copy(update={"mode": "bypass"})
    assert await proven(journal) == []


@pytest.mark.parametrize("opened", [False, True])
async def test_it_is_rewound_to_each_of_its_messages_and_pins_its_agent_once(brought: Played, *, opened: bool) -> None:
    journal = brought.journal
    if opened:
        await said(brought, "first")
    for n in reversed(range(len(BROUGHT) - (not opened))):
        await rewind(brought, FIRST + n)
        assert texts(await fresh(journal, KEY)) == [*BROUGHT[: n + 1]] == texts(await journal.state(KEY))
    state, row = await fresh(journal, KEY), await journal.thread(KEY)
    assert row is not None
    assert (state.agent, row.control.opened) == ((AGENT, True) if opened else (None, False))
    assert state.permissions == row.control.permissions
    await said(brought, "next")
    state, row = await fresh(journal, KEY), await journal.thread(KEY)
    assert row is not None
    assert (texts(state), state.agent) == (["one", "next", "ok"], AGENT)
    assert state.permissions == row.control.permissions == THEIRS.model_copy(update={"mode": "bypass"})
    entries = await journal.entries(KEY, 0, await head(journal))
    assert [entry.type for entry in entries].count("thread.opened") == 1
    assert await proven(journal) == []


async def test_a_thread_goes_back_to_before_its_first_turn_as_it_was_then(played: Played) -> None:
    await played.execute(SESSION, CreateSession(request_id="create"))
    await played.execute(KEY, Inject(request_id="i", message=user("by the way")))
    await said(played, "one")
    forked = await fork(played, 2)
    await rewind(played, 2)
    for key in (KEY, forked):
        row = await played.journal.thread(key)
        assert row is not None
        assert row.control.injected == 1, "no model was told it yet"
        await said(played, "anew", key)
        assert texts(await fresh(played.journal, key)) == ["by the way", "anew", "ok"]
    assert await proven(played.journal) == []


async def test_what_begins_there_moves_and_is_rebuilt(brought: Played, target: Played, tmp_path: Path) -> None:
    early = await fork(brought, FIRST, "early")
    await said(brought, "first")
    await rewind(brought, FIRST + 1)
    await said(brought, "second")
    states = [await fresh(brought.journal, key) for key in (KEY, early)]
    assert {done.kept async for done in rebuild(brought.journal)} == {""}
    assert [await fresh(brought.journal, key) for key in (KEY, early)] == states
    await take(target, await written(brought, tmp_path / "s.jsonl"), Target("t", session="copy"))
    for key, state in zip((KEY, early), states, strict=True):
        assert await fresh(target.journal, replace(key, session="copy")) == state.model_copy(
            update={"session_id": "copy"}
        )
    assert await proven(target.journal) == []


async def test_a_result_that_somebody_wrote_into_the_state_is_of_no_entry_in_forks_either(played: Played) -> None:
    await said(played, "one")
    call, result = (
        ToolCall(id="c", name="look", arguments={}),
        ToolResult(id="c", name="look", output=(Text(text="long"),)),
    )
    written = [user("x"), Message(role="assistant", blocks=(call,)), Message(role="tool", blocks=(result,))]
    changes = {"context": [message.model_dump(mode="json") for message in written]}
    seq = await head(played.journal)
    await played.execute(KEY, UpdateState(request_id="write", expected_seq=seq, reason="as told", changes=changes))
    once = await fork(played, name="once")
    twice = await fork(played, name="twice", key=once)
    for key in (KEY, once, twice):
        assert [message.seq for message in (await fresh(played.journal, key)).context] == [NO_ENTRY] * 3
