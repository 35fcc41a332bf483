"""A fork in another session needs its origin, until it was made whole."""

import asyncio
import hashlib
from functools import partial
from pathlib import Path

import pytest

from tests.integration.journal.conftest import KEY, SESSION, HeldUp, Played, Sql, Stored
from tests.integration.journal.forking import fork, fresh, head, said, texts
from turnwright.journal.commands import (
    CloseSession,
    CreateSession,
    DeleteSession,
    EraseEntry,
    ForkThread,
    MakeWhole,
)
from turnwright.journal.driver import Driver
from turnwright.journal.errors import CommandRejected
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import Deleted, delete_session
from turnwright.journal.store_export import export_session
from turnwright.journal.store_import import Target, import_session
from turnwright.journal.store_verify import rebuild, verify

ELSEWHERE = SessionKey("t", None, "elsewhere")
IMAGE = b"an image"
SHA = hashlib.sha256(IMAGE).hexdigest()


@pytest.fixture
async def forked(played: Played) -> ThreadKey:
    """A fork in another session, of a thread with a picture."""
    turn = await played.submit("draw")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="so"), Media(mime="image/png", blob=SHA), blobs={SHA: IMAGE})
    await played.execute(ELSEWHERE, CreateSession(request_id="elsewhere"))
    return await fork(played, name="fork", session="elsewhere")


async def findings(journal: Journal) -> list[str]:
    return [f"{f.check}: {f.where} {f.seq} {f.problem}" async for proof in verify(journal) for f in proof.findings]


async def delete(played: Played, key: SessionKey = SESSION, *, whole: bool = False) -> Deleted:
    return await delete_session(played.journal, key, DeleteSession(request_id=f"d{whole}", make_forks_whole=whole))


async def test_a_fork_in_another_session_is_told_and_shown_what_its_origin_was(
    played: Played, forked: ThreadKey
) -> None:
    assert forked.session_key == ELSEWHERE
    await said(played, "go on", forked)
    assert texts(await fresh(played.journal, forked)) == ["draw", "so", "go on", "ok"]
    assert await played.journal.blobs(ELSEWHERE, {SHA}) == {SHA: IMAGE}
    entry = await played.journal.entry(forked, (await played.journal.state(forked)).context[0].seq)
    assert entry is not None
    assert entry.seq == 1
    assert await findings(played.journal) == []


async def test_a_session_that_is_not_there_or_closed_gets_no_fork(played: Played, sql: Sql) -> None:
    await said(played, "one")
    receipt = await played.journal.execute(KEY, ForkThread(request_id="f", session="none"))
    assert receipt.code == "unknown_session"
    assert (await played.journal.execute(KEY, MakeWhole(request_id="w"))).code == "not_a_fork"
    await played.execute(ELSEWHERE, CreateSession(request_id="elsewhere"))
    threads = await sql("SELECT count(*) FROM threads")
    for closed, session in ((ELSEWHERE, "elsewhere"), (SESSION, None)):
        await played.execute(closed, CloseSession(request_id="close"))
        refused = await played.journal.execute(KEY, ForkThread(request_id=f"g{session}", session=session))
        assert (refused.status, refused.code) == ("rejected", "session_closed")
    assert await sql("SELECT count(*) FROM threads") == threads, "nothing is left of a fork that was refused"
    assert await findings(played.journal) == []


async def test_a_session_that_forks_elsewhere_need_is_deleted_once_they_are_whole(
    played: Played, forked: ThreadKey, sql: Sql
) -> None:
    journal = played.journal
    further = await fork(played, None, "further", forked)
    await said(played, "mine", forked)
    before = [(await fresh(journal, key)) for key in (forked, further)]
    refused = await delete(played)
    assert refused.receipt.code == "needed_by_forks"
    assert "agent/fork of session elsewhere" in (refused.receipt.reason or "")
    assert (await delete(played, whole=True)).receipt.status == "accepted"
    after = [(await fresh(journal, key)) for key in (forked, further)]
    assert [texts(state) for state in after] == [texts(state) for state in before]
    assert after[1] == before[1]
    assert await journal.blobs(ELSEWHERE, {SHA}) == {SHA: IMAGE}
    await said(played, "on", further)
    assert texts(await fresh(journal, forked))[:2] == ["draw", "so"]
    assert await findings(journal) == []
    rows = await sql("SELECT thread_id, seq, at_seq, whole_seq FROM bases ORDER BY thread_id")
    assert {done.kept async for done in rebuild(journal)} == {""}
    assert await sql("SELECT thread_id, seq, at_seq, whole_seq FROM bases ORDER BY thread_id") == rows
    assert texts(await fresh(journal, further)) == ["draw", "so", "on", "ok"]


async def test_a_deleted_fork_needs_nothing(played: Played, forked: ThreadKey) -> None:
    assert (await delete(played, ELSEWHERE)).receipt.status == "accepted"
    assert (await delete(played)).receipt.status == "accepted"
    assert await findings(played.journal) == []


async def test_what_is_erased_in_the_origin_is_gone_from_a_fork_that_was_made_whole(
    played: Played, forked: ThreadKey, stored: Stored
) -> None:
    await said(played, "please keep this to yourself: " + "hush " * 20_000)
    other = await fork(played, name="other", session="elsewhere")
    await played.execute(other, MakeWhole(request_id="w"))
    assert (await played.journal.execute(other, MakeWhole(request_id="w2"))).code == "whole_already"
    secret = next(m.seq for m in (await fresh(played.journal, KEY)).context if m.text.endswith("hush "))
    await played.execute(KEY, EraseEntry(request_id="e", seq=secret))
    assert await stored("hush") == set()
    assert texts(await fresh(played.journal, other)) == ["draw", "so", "ok"]
    await said(played, "go on", other)
    await played.execute(other, MakeWhole(request_id="w3"))
    assert texts(await fresh(played.journal, other)) == ["draw", "so", "ok", "go on", "ok"]
    assert await findings(played.journal) == []


async def image_seq(played: Played) -> int:
    return next(m.seq for m in (await fresh(played.journal, KEY)).context if any(b.type == "media" for b in m.blocks))


@pytest.mark.parametrize("kept", ["whole", "whole again", "whole afterwards", "let go of before"])
async def test_a_file_that_is_erased_in_the_origin_is_in_no_session_of_its_forks(
    played: Played, forked: ThreadKey, stored: Stored, kept: str
) -> None:
    """A fork that is whole has a copy of it: in its own session, and in an entry that names it in the origin's."""
    await said(played, "something else")
    forks = [forked, await fork(played, name="near"), await fork(played, name="late", session="elsewhere")]
    forks.append(await fork(played, None, "further", forks[1], "elsewhere"))
    if kept != "whole afterwards":
        for key in forks:
            await played.execute(key, MakeWhole(request_id="w"))
    if kept in ("let go of before", "whole again"):
        await played.execute(KEY, EraseEntry(request_id="other", seq=1))
    if kept == "whole again":
        for key in forks:
            await played.execute(key, MakeWhole(request_id="again"))
    assert "blobs" in await stored(IMAGE.decode())
    await played.execute(KEY, EraseEntry(request_id="image", seq=await image_seq(played)))
    if kept == "whole afterwards":
        for key in forks:
            await played.execute(key, MakeWhole(request_id="w"))
    assert await stored(IMAGE.decode()) == await stored(SHA) == set()
    for key in forks:
        assert not any(b.type == "media" for m in (await fresh(played.journal, key)).context for b in m.blocks)
    assert await findings(played.journal) == []


@pytest.mark.parametrize("first", ["making it whole", "erasing"])
async def test_a_fork_that_is_made_whole_while_something_is_erased_keeps_nothing_of_it(
    played: Played, forked: ThreadKey, driver: Driver, stored: Stored, first: str, held_up: HeldUp
) -> None:
    both = {
        "making it whole": partial(played.journal.execute, forked, MakeWhole(request_id="w")),
        "erasing": partial(played.journal.execute, KEY, EraseEntry(request_id="e", seq=await image_seq(played))),
    }
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "insert_request" and not inside.is_set():
            inside.set()
            await go_on.wait()

    driver.hook = hook
    begins = asyncio.ensure_future(both.pop(first)())
    await inside.wait()
    follows = asyncio.ensure_future(both.popitem()[1]())
    await held_up(follows)
    go_on.set()
    assert [(await one).status for one in (begins, follows)] == ["accepted"] * 2
    assert await stored(IMAGE.decode()) == await stored(SHA) == set()
    assert texts(await fresh(played.journal, forked)) == ["draw"]
    assert await findings(played.journal) == []


async def test_a_file_that_an_entry_of_the_fork_s_session_names_stays_there(
    played: Played, forked: ThreadKey, stored: Stored
) -> None:
    await played.execute(forked, MakeWhole(request_id="w"))
    own = ThreadKey("t", None, "agent", "elsewhere", "own")
    turn = await played.submit("draw it again", own)
    epoch = await played.claim(turn, own)
    await played.ask(turn, epoch, own)
    await played.answer(turn, epoch, Media(mime="image/png", blob=SHA), key=own, blobs={SHA: IMAGE})
    await played.execute(KEY, EraseEntry(request_id="image", seq=await image_seq(played)))
    assert await played.journal.blobs(ELSEWHERE, {SHA}) == {SHA: IMAGE}
    assert await played.journal.blob(SESSION, SHA) is None
    assert await findings(played.journal) == []


async def test_a_session_moves_once_its_forks_are_whole(
    played: Played, forked: ThreadKey, tmp_path: Path, request: pytest.FixtureRequest, journal_url: str
) -> None:
    with pytest.raises(CommandRejected, match="make it whole"):
        [line async for line in export_session(played.journal, ELSEWHERE)]
    await said(played, "mine", forked)
    await played.execute(forked, MakeWhole(request_id="w"))
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join([line async for line in export_session(played.journal, ELSEWHERE)]))
    url = request.getfixturevalue("postgres_url" if journal_url.startswith("sqlite") else "sqlite_url")
    target = await Journal.open(url, migrate=True)
    try:
        await import_session(target, path, Target("t"), principal="ann")
        assert texts(await target.state(forked)) == ["draw", "so", "mine", "ok"]
        assert await target.blobs(ELSEWHERE, {SHA}) == {SHA: IMAGE}
        assert await findings(target) == []
    finally:
        await target.close()
    assert await head(played.journal, forked) > 1
