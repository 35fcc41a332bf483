"""What a thread is to begin with is read, and its media are copied, before anything is locked."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, Played, Sql
from tests.integration.journal.forking import fork, fresh, head, said, texts
from turnwright.journal.commands import (
    CreateSession,
    DeleteSession,
    EraseEntry,
    ForkThread,
    MakeWhole,
    Receipt,
    RewindThread,
)
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.script import Script
from turnwright.journal.store import Journal
from turnwright.journal.store_ahead import carry_out_ahead
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_verify import verify
from turnwright.journal.transact import forking
from turnwright.journal.transact.ahead import Ahead, Outdated, copy_blob, read_ahead
from turnwright.journal.transact.commands import Done, Undo
from turnwright.journal.transact.forking import fork_command
from turnwright.journal.transact.making_whole import make_whole_command

ELSEWHERE = SessionKey("t", None, "elsewhere")
FORK = ThreadKey("t", None, "agent", "elsewhere", "fork")
PICTURES = {hashlib.sha256(body).hexdigest(): body for body in (b"a picture", b"another picture")}


@pytest.fixture
async def forked(played: Played) -> ThreadKey:
    """A fork in another session, of a thread with two pictures."""
    turn = await played.submit("draw")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="so"), *(Media(mime="image/png", blob=sha) for sha in PICTURES),
                        blobs=PICTURES)  # fmt: skip
    await played.execute(ELSEWHERE, CreateSession(request_id="elsewhere"))
    return await fork(played, name=FORK.thread, session="elsewhere")


@pytest.fixture
def points(played: Played) -> Iterator[list[str]]:
    """The statements of each transaction, behind a `begin`."""
    seen: list[str] = []
    played.journal.driver.hook = seen.append
    yield seen
    played.journal.driver.hook = None


async def proven(played: Played) -> bool:
    return not [finding async for proof in verify(played.journal) for finding in proof.findings]


async def test_no_entry_is_read_under_the_lock_of_a_fork_a_rewind_or_a_fork_made_whole(
    played: Played, forked: ThreadKey, points: list[str]
) -> None:
    first = await said(played, "one")
    other = Journal(played.journal.driver, played.journal.terms)
    await other.state(KEY)  # an old one
    await said(played, "two")
    for key, command in (
        (KEY, ForkThread(request_id="f")),
        (KEY, ForkThread(request_id="g", at_seq=first)),
        (KEY, RewindThread(request_id="r", to_seq=first, expected_seq=await head(played.journal))),
        (forked, MakeWhole(request_id="w")),
    ):
        points.clear()
        await Played(other).execute(key, command)
        assert "read_entries" in points
        for n, point in enumerate(points):
            if point == "lock_in_session":
                assert "read_entries" not in points[n : points.index("commit", n)]


async def test_media_are_copied_one_in_a_transaction_before_a_fork_is_whole(
    played: Played, forked: ThreadKey, points: list[str]
) -> None:
    await played.execute(forked, MakeWhole(request_id="w"))
    transactions = " ".join(points).split("begin ")
    assert [one.split().count("insert_blob") for one in transactions if "insert_blob" in one] == [1, 1]
    assert await played.journal.blobs(ELSEWHERE, PICTURES) == PICTURES


@pytest.mark.parametrize(
    ("command", "script"),
    [(ForkThread(request_id="f"), fork_command), (MakeWhole(request_id="w"), make_whole_command)],
    ids=["fork", "make_whole"],
)
async def test_what_is_erased_after_it_was_read_is_not_begun_with(
    played: Played, forked: ThreadKey, command: ForkThread | MakeWhole, script: Callable[..., Script[Done]]
) -> None:
    journal = played.journal
    ahead = await journal.driver.read(partial(read_ahead, forked, command))
    await played.execute(KEY, EraseEntry(request_id="e", seq=1))
    with pytest.raises(Outdated):
        await journal.driver.write(partial(script, forked, command, ahead))
    receipt = await played.execute(forked, command)
    assert texts(await fresh(journal, replace(forked, thread=receipt.thread or forked.thread))) == ["so"]
    assert await proven(played)


async def test_a_fork_as_of_now_begins_with_what_was_said_since_it_was_read(played: Played) -> None:
    await said(played, "one")
    command = ForkThread(request_id="f", thread="f")
    ahead = await played.journal.driver.read(partial(read_ahead, KEY, command))
    await said(played, "two")
    await played.journal.driver.write(partial(fork_command, KEY, command, ahead))
    assert texts(await fresh(played.journal, replace(KEY, thread="f"))) == ["one", "ok", "two", "ok"]
    assert await proven(played)


async def test_media_that_were_copied_for_nothing_go_again_or_with_an_erasure(
    played: Played, forked: ThreadKey, sql: Sql
) -> None:
    async def refuse(_: Ahead | None) -> None:
        assert await copies() == [(4,)]
        raise Undo(Receipt("w", "rejected"))

    async def copies() -> list[tuple[int]]:
        return await sql("SELECT count(*) FROM blobs WHERE size < 100")

    driver, command = played.journal.driver, MakeWhole(request_id="w")
    with pytest.raises(Undo):
        await carry_out_ahead(driver, forked, command, refuse)
    assert await copies() == [(2,)]
    ahead = await driver.read(partial(read_ahead, forked, command))
    assert ahead is not None
    for sha in PICTURES:
        await driver.write(partial(copy_blob, forked, ahead, sha))
    drawn = next(m.seq for m in (await played.journal.state(KEY)).context if m.text == "so")
    await played.execute(KEY, EraseEntry(request_id="e", seq=drawn))
    assert await copies() == [(0,)]
    with pytest.raises(Outdated):
        await driver.write(partial(copy_blob, forked, ahead, min(PICTURES)))


async def test_a_rejection_is_told_also_if_the_store_is_away_when_what_was_copied_is_to_go(
    played: Played, forked: ThreadKey
) -> None:
    driver = played.journal.driver

    def away(_: str) -> None:
        raise StoreUnavailable("it is away")

    async def refuse(_: Ahead | None) -> None:
        driver.hook = away
        raise Undo(Receipt("w", "rejected"))

    with pytest.raises(Undo):
        await carry_out_ahead(driver, forked, MakeWhole(request_id="w"), refuse)


async def test_forks_of_forks_are_bounded_together_and_a_deleted_session_makes_room(
    played: Played, forked: ThreadKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "FORKS_MAX", 3)
    chain = [KEY, forked, await fork(played, name="a", key=forked)]
    chain.append(await fork(played, name="b"))
    for key in chain:
        refused = await played.journal.execute(key, ForkThread(request_id="more"))
        assert (refused.code, "3 forks" in (refused.reason or "")) == ("too_many_forks", True)
    other = replace(KEY, thread="other")
    await said(played, "one", other)
    await fork(played, name="of-another", key=other)
    await delete_session(played.journal, ELSEWHERE, DeleteSession(request_id="d"))
    for name in ("c", "d"):
        await fork(played, name=name, key=chain[-1])
