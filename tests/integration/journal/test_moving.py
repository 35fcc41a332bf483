"""An exported session is the same session elsewhere: every hash, every receipt, and nothing that was erased."""

import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from tests.integration.journal.forking import fork, fresh, head, rewind, said, texts
from tests.integration.journal.moving import IMAGE, PLAIN, SIDE, facts, lived_in, plain, proven, take, written
from turnwright.journal.commands import (
    CreateSchedule,
    CreateSession,
    DeleteSchedule,
    DeleteSession,
    EraseEntry,
    ResumeSession,
    Submit,
    TriggerSchedule,
)
from turnwright.journal.errors import CommandRejected
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Text, user
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.script import first
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_import import Target
from turnwright.journal.store_schedules import list_schedules
from turnwright.journal.store_search import search
from turnwright.journal.store_verify import rebuild
from turnwright.journal.transact.enlisting import body_of
from turnwright.journal.transact.searching import SearchFilter

ELSEWHERE = Target("other", user="ann", session="copy")
COPY = SessionKey("other", "ann", "copy")


@pytest.fixture
async def full(played: Played) -> Played:
    """A session with all that a session can have."""
    return await lived_in(played)


async def test_all_of_it_is_there_under_another_key_and_proven(full: Played, target: Played, tmp_path: Path) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    before = await facts(full.journal, SESSION)
    done = await take(target, path, ELSEWHERE)
    assert (done.key, done.unfinished, done.paused, done.duplicate) == (COPY, 2, True, False)
    after = await facts(target.journal, COPY)
    assert after[: len(before)] == before
    assert [fact[2]["type"] for fact in after[len(before) :]] == ["session.imported", "session.paused"]
    assert await proven(target.journal) == []
    assert await target.journal.blob(COPY, hashlib.sha256(IMAGE).hexdigest()) == IMAGE
    for name in ("main", "secret", "side"):
        old, new = ThreadKey("t", None, "agent", "s", name), ThreadKey("other", "ann", "agent", "copy", name)
        there = await target.journal.thread(new)
        here = await full.journal.thread(old)
        assert there is not None
        assert here is not None
        assert (there.control, there.hash) == (here.control, here.hash)
        mine = (await full.journal.state(old)).model_dump(exclude={"tenant", "user_id", "session_id"})
        assert (await target.journal.state(new)).model_dump(exclude={"tenant", "user_id", "session_id"}) == mine
    page = await search(target.journal, SearchFilter("other", "platypus"))
    assert page is not None
    assert [hit.key.session for hit in page.items] == ["copy"]
    kept = [r.kept async for r in rebuild(target.journal) if r.kept]
    assert len(kept) == 3, "only what was erased is not proven by entries alone"


async def test_forks_and_rewinds_are_the_same_there(played: Played, target: Played, tmp_path: Path) -> None:
    await said(played, "one")
    await said(played, "two")
    first, other = await fork(played, 7, "first"), await fork(played, None, "other")
    await said(played, "three", first)
    await rewind(played, 7)
    await played.execute(KEY, EraseEntry(request_id="e", seq=8))
    await rewind(played, await head(played.journal) - 1)
    await take(target, await written(played, tmp_path / "s.jsonl"), ELSEWHERE)
    for key in (KEY, first, other):
        there = ThreadKey("other", "ann", "agent", "copy", key.thread)
        assert texts(await fresh(target.journal, there)) == texts(await fresh(played.journal, key))
    assert await proven(target.journal) == []


async def test_what_is_erased_stays_erased_and_is_not_in_the_file(full: Played, target: Played, tmp_path: Path) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    assert "may read" not in "".join(
        json.dumps(line) for line in map(json.loads, path.read_bytes().splitlines()) if line["kind"] == "entry"
    )
    await take(target, path)
    [entry] = await target.journal.entries(ThreadKey("t", None, "agent", "s", "secret"), 0, 1)
    assert entry.as_json()["erased"] is True


async def test_an_import_twice_is_one_and_other_content_is_refused_by_name(
    played: Played, target: Played, tmp_path: Path
) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    assert (await take(target, path)).duplicate is False
    first = await facts(target.journal, PLAIN)
    assert (await take(target, path)).duplicate is True
    again = await take(target, await written(played, tmp_path / "again.jsonl", PLAIN))
    assert again.duplicate is True
    assert (await take(played, path)).duplicate is True, "where it comes from it is there already"
    await played.submit("more", ThreadKey("t", None, "agent", "plain"))
    with pytest.raises(CommandRejected, match=r"session plain .* thread agent/main .* has not come as far") as refused:
        await take(target, await written(played, tmp_path / "more.jsonl", PLAIN))
    assert refused.value.code == "session_exists"
    assert await facts(target.journal, PLAIN) == first


async def test_a_turn_that_ran_here_is_followed_by_one_that_runs_there(
    played: Played, target: Played, tmp_path: Path
) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    done = await take(target, path, ELSEWHERE)
    assert (done.unfinished, done.paused) == (0, False)
    key = ThreadKey("other", "ann", "agent", "copy")
    turn = turn_id(key, "four")
    await target.execute(key, Submit(request_id="four", turn_id=turn, input=user("four")))
    epoch = await target.claim(turn, key)
    await target.ask(turn, epoch, key)
    await target.answer(turn, epoch, Text(text="four is done"), key=key)
    said = [message.text for message in (await target.journal.state(key)).context]
    assert said == ["one", "one is done", "two", "two is done", "three", "three is done", "four", "four is done"]
    assert await proven(target.journal) == []


async def test_open_turns_go_on_only_when_somebody_says_so(full: Played, target: Played, tmp_path: Path) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    assert (await take(target, path)).paused is True
    session = await target.journal.session(SESSION)
    assert session is not None
    assert session.control.pause.on
    await target.execute(SESSION, ResumeSession(request_id="go", revision=session.control.pause.revision))
    assert (await take(full, path)).duplicate is True
    other = await Journal.open(f"sqlite:///{tmp_path}/third.db", migrate=True)
    try:
        assert (await take(Played(other), path, go_on=True)).paused is False
    finally:
        await other.close()


async def test_a_session_that_came_from_elsewhere_moves_on_with_every_hash(
    full: Played, target: Played, tmp_path: Path
) -> None:
    before = await facts(full.journal, SESSION)
    await take(target, await written(full, tmp_path / "there.jsonl"))
    path = await written(target, tmp_path / "back.jsonl")
    back = await Journal.open(f"sqlite:///{tmp_path}/back.db", migrate=True)
    try:
        assert (await take(Played(back), path)).paused is False, "it is paused already"
        assert (await facts(back, SESSION))[: len(before)] == before
        assert await proven(back) == []
    finally:
        await back.close()
    with pytest.raises(CommandRejected, match="has not come as far") as refused:
        await take(full, path)
    assert refused.value.code == "session_exists"


async def test_what_waits_in_the_inbox_comes_along(played: Played, target: Played, tmp_path: Path) -> None:
    await played.submit("one")
    for key in (KEY, SIDE):
        waiting = Submit(request_id="waits", turn_id=turn_id(key, "waits"), input=user("waits"))
        row = (key.canonical, SESSION.canonical, waiting.turn_id, "waits", body_of(waiting), 1)
        await played.journal.driver.write(partial(first, "post", *row))
    assert (await take(target, await written(played, tmp_path / "s.jsonl"))).unfinished == 3
    for key in (KEY, SIDE):
        assert await target.journal.turn(key, turn_id(key, "waits")) is not None
    assert await proven(target.journal) == []


async def test_a_remembered_request_is_known_there(played: Played, target: Played, tmp_path: Path) -> None:
    await take(target, await plain(played, tmp_path / "s.jsonl"))
    key = ThreadKey("t", None, "agent", "plain")
    receipt = await target.journal.execute(
        key, Submit(request_id="one", turn_id=turn_id(key, "one"), input=user("one"))
    )
    assert (receipt.status, receipt.duplicate) == ("accepted", True)


async def test_its_schedules_come_paused_with_what_became_of_their_ticks(
    played: Played, target: Played, tmp_path: Path
) -> None:
    definition = Definition(name="news", agent="agent", input=user("the news"), times=Times(every_s=60))
    await played.execute(PLAIN, CreateSession(request_id="create"))
    await played.execute(PLAIN, CreateSchedule(request_id="schedule", definition=definition))
    await played.execute(PLAIN, TriggerSchedule(request_id="now", name="news"))
    [before] = await list_schedules(played.journal, PLAIN) or ()
    await take(target, await written(played, tmp_path / "s.jsonl", PLAIN))
    [after] = await list_schedules(target.journal, PLAIN) or ()
    assert (before.state, after) == ("active", replace(before, state="paused"))
    assert await proven(target.journal) == []


async def test_what_became_of_ticks_comes_whatever_was_erased_and_not_of_schedules_that_are_no_more(
    played: Played, target: Played, tmp_path: Path, sql: Sql, sql_there: Sql
) -> None:
    key = ThreadKey("t", None, "agent", "plain")
    await said(played, "one", key)
    for name in ("news", "old"):
        definition = Definition(name=name, agent="agent", input=user(name), times=Times(every_s=60))
        await played.execute(PLAIN, CreateSchedule(request_id=f"make {name}", definition=definition))
        await played.execute(PLAIN, TriggerSchedule(request_id=f"now {name}", name=name))
    await played.execute(PLAIN, DeleteSchedule(request_id="delete", name="old"))
    await played.execute(key, EraseEntry(request_id="erase", seq=1))
    await take(target, await written(played, tmp_path / "s.jsonl", PLAIN))
    [before], [after] = [await list_schedules(each.journal, PLAIN) or () for each in (played, target)]
    assert (len(after.last), after.last) == (1, before.last)
    assert await sql_there("SELECT count(*) FROM ticks") == [(1,)]
    assert await sql("SELECT count(*) FROM ticks") == [(2,)], "Temporal has not been told yet"
    assert [done async for done in rebuild(target.journal)] != []
    assert await sql_there("SELECT count(*) FROM ticks") == [(1,)]
    assert await proven(target.journal) == []


async def test_a_session_that_was_deleted_is_not_brought_back_under_its_id(played: Played, tmp_path: Path) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    await delete_session(played.journal, PLAIN, DeleteSession(request_id="delete"))
    with pytest.raises(CommandRejected) as refused:
        await take(played, path)
    assert refused.value.code == "session_deleted"
    assert (await take(played, path, Target("t", session="back"))).duplicate is False
    assert await proven(played.journal) == []


async def test_a_session_is_in_a_journal_once(played: Played, tmp_path: Path) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    with pytest.raises(CommandRejected, match="session plain") as refused:
        await take(played, path, Target("t", session="copy"))
    assert refused.value.code == "turn_exists"
    assert await proven(played.journal) == []
    assert await played.journal.session(SessionKey("t", None, "copy")) is None
