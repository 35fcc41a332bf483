"""A fork begins with what another thread's agent knew at an entry, a rewound thread goes on with what its own knew."""

import asyncio
from dataclasses import replace

import pytest

from tests.integration.journal.conftest import AGENT, KEY, SESSION, Played, Sql
from tests.integration.journal.forking import fork, fresh, head, rewind, said, texts
from turnwright.client.gateway.agui.history import History
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import (
    CallSpec,
    DeleteSession,
    EraseEntry,
    ForkThread,
    Inject,
    RewindThread,
    SetPermissions,
)
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.messages import ToolCall, user
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.state_parts import Rule
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.view import request_messages

OWN = {"tenant", "user_id", "agent_id", "session_id", "thread_id", "as_of_seq", "usage", "compaction"}


def known(state: AgentState) -> dict[str, object]:
    """What an agent knows, wherever and under whatever numbers."""
    held = state.model_dump(mode="json", exclude=OWN)
    for message in (*held["context"], *(waiting["message"] for waiting in held["inbox"])):
        del message["seq"]
    return held | {"inbox": [waiting["message"] for waiting in held["inbox"]]}


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def test_a_fork_begins_with_what_its_origin_knew_and_each_goes_its_own_way(played: Played, sql: Sql) -> None:
    journal = played.journal
    first = await said(played, "one")
    await said(played, "two")
    copied = await sql("SELECT count(*) FROM entries")
    forked = await fork(played, first)
    assert await sql("SELECT count(*) FROM entries") == [(copied[0][0] + 1,)], "nothing was copied"
    assert known(await journal.state(forked)) == known(await journal.state(KEY, first))
    await said(played, "other", forked)
    await said(played, "three")
    assert texts(await journal.state(forked)) == ["one", "ok", "other", "ok"]
    assert texts(await journal.state(KEY)) == ["one", "ok", "two", "ok", "three", "ok"]
    assert (await fresh(journal, forked)) == await journal.state(forked)
    assert [message.seq for message in (await journal.state(forked)).context][:3] == [1 - first - 1, -2, 2]
    assert await proven(journal)


async def test_a_fork_uses_nothing_yet_whatever_its_origin_used(played: Played) -> None:
    await said(played, "one")
    forked = await fork(played)
    row = await played.journal.thread(forked)
    assert row is not None
    assert (await played.journal.state(forked)).usage.total.requests == row.control.used.steps == 0


async def test_a_fork_of_the_same_request_is_the_same_fork(played: Played) -> None:
    await said(played, "one")
    command = ForkThread(request_id="f", at_seq=1 + 3)
    receipt = await played.execute(KEY, command)
    await said(played, "two")
    again = await played.journal.execute(KEY, replace(command))
    assert again == replace(receipt, duplicate=True)
    assert (await played.journal.execute(KEY, replace(command, at_seq=5))).code == "request_id_reused"


async def test_what_cannot_be_forked_is_refused_by_name(played: Played) -> None:
    journal = played.journal
    await played.submit("one")
    for command, code in {
        ForkThread(request_id="b", at_seq=9): "unknown_entry",
        ForkThread(request_id="c", at_seq=0): "unknown_entry",
        ForkThread(request_id="d", thread="main"): "thread_exists",
    }.items():
        assert (await journal.execute(KEY, command)).code == code
    assert (await journal.execute(replace(KEY, thread="x"), ForkThread(request_id="e"))).code == "unknown_thread"
    await fork(played)
    assert await proven(journal)


async def test_a_turn_in_the_middle_of_its_calls_does_not_go_on_in_a_fork(played: Played) -> None:
    journal = played.journal
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, ToolCall(id="c", name="t", arguments={}), tools={"t": CallSpec("read")})
    await played.submit("queued")
    await played.execute(KEY, Inject(request_id="i", message=user("by the way")))
    forked = await fork(played)
    row, state = await journal.thread(forked), await journal.state(forked)
    assert row is not None
    assert row.control.active is None
    assert (row.control.queued, row.control.injected) == (0, 1)
    assert [waiting.message.text for waiting in state.inbox] == ["by the way"]
    assert [r.outcome for message in request_messages(state) for r in message.results] == ["interrupted"]
    await said(played, "next", forked)
    assert texts(await journal.state(forked)) == ["one", "", "", "by the way", "next", "ok"]
    assert await proven(journal)


async def test_permissions_and_plan_are_those_of_the_entry_it_was_forked_at(played: Played) -> None:
    journal = played.journal
    first = await said(played, "one")
    deny = PermissionChange(add=(("deny", Rule(tool="shell")),))
    await played.execute(KEY, SetPermissions(request_id="p", change=deny))
    before, after = await fork(played, first), await fork(played)
    controls = [row.control.permissions for key in (before, after) if (row := await journal.thread(key)) is not None]
    assert controls == [(await journal.state(key)).permissions for key in (before, after)]
    assert [len(permissions.deny) for permissions in controls] == [0, 1]


async def test_a_chain_of_forks_is_read_from_its_beginning_and_kept_on_the_way(played: Played, sql: Sql) -> None:
    journal, key = played.journal, KEY
    for number in range(12):
        await said(played, f"n{number}", key)
        key = await fork(played, name=f"f{number}", key=key)
    assert texts(await fresh(journal, key))[::2] == [f"n{number}" for number in range(12)]
    kept = await sql("SELECT t.thread FROM checkpoints AS c JOIN threads AS t ON t.id = c.thread_id")
    assert kept == [("f9",)], "one that is read from far away is kept"
    state = await fresh(journal, key)
    await sql("DELETE FROM checkpoints")
    assert await fresh(journal, key) == state
    assert await proven(journal)


async def test_a_message_of_before_the_fork_leads_to_its_entry(played: Played) -> None:
    journal, key, named = played.journal, KEY, []
    for number in range(3):
        await said(played, f"n{number}", key)
        key = await fork(played, await head(journal, key) - (number > 0), f"f{number}", key)
    for message in (await journal.state(key)).context:
        entry = await journal.entry(key, message.seq)
        assert entry is not None
        assert entry.entry_id == message.id
        named.append(message.text)
    assert named == ["n0", "ok", "n1", "ok", "n2", "ok"]
    assert [await journal.entry(key, seq) for seq in (-100, 0, 2)] == [None] * 3


async def test_a_rewound_thread_goes_on_from_there_and_keeps_its_history(played: Played) -> None:
    journal = played.journal
    first = await said(played, "one")
    second = await said(played, "two")
    spent = (await journal.state(KEY)).usage
    await rewind(played, first)
    state = await journal.state(KEY)
    assert known(state) == known(await journal.state(KEY, first))
    assert state.usage == spent
    await said(played, "three")
    assert texts(await journal.state(KEY)) == ["one", "ok", "three", "ok"] == texts(await fresh(journal, KEY))
    assert texts(await journal.state(KEY, second)) == ["one", "ok", "two", "ok"]
    await rewind(played, second)
    assert texts(await journal.state(KEY)) == ["one", "ok", "two", "ok"]
    assert await proven(journal)


async def test_a_rewind_is_refused_while_a_turn_is_there_or_when_something_was_written_since(played: Played) -> None:
    journal = played.journal
    first = await said(played, "one")
    await said(played, "two")
    seq = await head(journal)
    commands = [RewindThread(request_id=name, to_seq=first, expected_seq=seq) for name in ("ann", "bob")]
    receipts = [await journal.execute(KEY, command) for command in commands]
    assert [receipt.code for receipt in receipts] == [None, "stale_seq"]
    for to, code in {
        0: "unknown_entry",
        seq + 1: "nothing_to_rewind",
        seq + 2: "unknown_entry",
    }.items():
        command = RewindThread(request_id="r", to_seq=to, expected_seq=seq + 1)
        assert (await journal.execute(KEY, command)).code == code
    await played.submit("three")
    command = RewindThread(request_id="r", to_seq=first, expected_seq=await head(journal))
    assert (await journal.execute(KEY, command)).code == "busy"


async def test_a_fork_of_a_thread_that_was_rewound_is_what_it_was_at_that_entry(played: Played) -> None:
    first = await said(played, "one")
    second = await said(played, "two")
    await rewind(played, first)
    await said(played, "three")
    before, after = await fork(played, second), await fork(played)
    assert texts(await played.journal.state(before))[::2] == ["one", "two"]
    assert texts(await played.journal.state(after))[::2] == ["one", "three"]
    assert await proven(played.journal)


async def test_what_is_erased_is_gone_from_forks_and_theirs_also_where_they_are_in_memory(
    played: Played, sql: Sql
) -> None:
    journal = played.journal
    await said(played, "a secret")
    forked = await fork(played)
    second = await said(played, "more", forked)
    further = await fork(played, second, key=forked)
    keys = (forked, further)
    other = Journal(journal.driver)
    cached = [await other.state(key) for key in keys]
    assert all("a secret" in texts(state) for state in cached)
    await sql("UPDATE threads SET tail_bytes = 1000000")
    for key, state in zip(keys, cached, strict=True):
        assert await other.checkpoint(key, state)
    await played.execute(KEY, EraseEntry(request_id="e", seq=1, reason="asked for"))
    assert await sql("SELECT count(*) FROM checkpoints") == [(0,)]
    for key in keys:
        assert "a secret" not in texts(await other.state(key))
        assert texts(await fresh(journal, key)) == texts(await other.state(key))
    await sql("UPDATE threads SET tail_bytes = 1000000")
    assert [await other.checkpoint(key, state) for key, state in zip(keys, cached, strict=True)] == [False, False]
    assert await proven(journal)


async def test_where_forks_begin_is_proven_and_rebuilt(played: Played, sql: Sql) -> None:
    journal = played.journal
    first = await said(played, "one")
    await said(played, "two")
    forked = await fork(played, first)
    await rewind(played, first)
    states = [await fresh(journal, key) for key in (KEY, forked)]
    rows = await sql("SELECT thread_id, seq, origin_id, at_seq FROM bases ORDER BY thread_id, seq")
    await sql("UPDATE bases SET at_seq = at_seq + 1")
    assert not await proven(journal)
    await sql("DELETE FROM bases")
    assert not await proven(journal)
    assert {done.kept async for done in rebuild(journal)} == {""}
    assert await sql("SELECT thread_id, seq, origin_id, at_seq FROM bases ORDER BY thread_id, seq") == rows
    assert [await fresh(journal, key) for key in (KEY, forked)] == states
    assert await proven(journal)


async def test_a_thread_in_a_chain_of_forks_that_lost_where_it_begins_says_how_to_mend_it(
    played: Played, sql: Sql
) -> None:
    journal, keys = played.journal, [KEY]
    for name in ("f0", "f1", "f2"):
        await said(played, name, keys[-1])
        keys.append(await fork(played, name=name, key=keys[-1]))
    await rewind(played, await said(played, "more", keys[2]) - 1, keys[2])
    states = [await fresh(journal, key) for key in keys]
    for lost, concerned in {"seq = 1": keys[2:], "seq > 1": keys[2:3]}.items():
        await sql(f"DELETE FROM bases WHERE {lost} AND thread_id = (SELECT id FROM threads WHERE thread = 'f1')")
        for key in concerned:
            with pytest.raises(StoreCorrupt, match="turnwright journal rebuild --session s"):
                await fresh(journal, key)
        assert {finding.check async for proof in verify(journal) for finding in proof.findings} == {"base"}
        assert {done.kept async for done in rebuild(journal)} == {""}
        assert [await fresh(journal, key) for key in keys] == states
        assert await proven(journal)


async def test_a_deleted_session_leaves_nothing_of_its_forks(played: Played, sql: Sql) -> None:
    await said(played, "one")
    await fork(played)
    deleted = await delete_session(played.journal, SESSION, DeleteSession(request_id="d"))
    assert deleted.receipt.status == "accepted"
    assert await sql("SELECT count(*) FROM bases") == [(0,)]
    assert await proven(played.journal)


@pytest.mark.parametrize("after", ["fork", "rewind"])
async def test_the_agent_stays_the_pinned_one(played: Played, after: str) -> None:
    first = await said(played, "one")
    await said(played, "two")
    if after == "rewind":
        await rewind(played, first)
    key = KEY if after == "rewind" else await fork(played, first)
    row = await played.journal.thread(key)
    assert row is not None
    assert row.control.opened
    assert (await played.journal.state(key)).agent == AGENT


async def test_a_chat_front_end_is_told_what_a_fork_or_a_rewound_thread_goes_on_from(played: Played) -> None:
    journal = played.journal
    first = await said(played, "one")
    await said(played, "two")
    forked = await fork(played, first)
    await rewind(played, first)
    for key in (KEY, forked):
        turn = await played.submit("next", key)
        told = History(journal, key, turn, await head(journal, key))  # type: ignore[arg-type]  # reads are all it needs
        assert [message.text for message in await told.messages()] == ["one", "ok", "next"]


async def test_an_entry_that_is_erased_while_its_thread_is_forked_is_in_neither(
    played: Played, journal_url: str
) -> None:
    other = await Journal.open(journal_url)
    for number in range(5):
        await said(played, f"hush {number}")
        seq = next(m.seq for m in (await fresh(other, KEY)).context if m.text == f"hush {number}")
        made = replace(KEY, thread=f"f{number}")
        receipts = await asyncio.gather(
            played.journal.execute(KEY, EraseEntry(request_id=f"e{number}", seq=seq)),
            other.execute(KEY, ForkThread(request_id=f"f{number}", thread=made.thread)),
            other.state(KEY),
        )
        assert [receipt.status for receipt in receipts[:2]] == ["accepted", "accepted"]
        for key in (KEY, made):
            assert f"hush {number}" not in texts(await other.state(key))
    await other.close()
    assert await proven(played.journal)
