"""What was erased is gone everywhere, and nothing else is."""

import asyncio
import hashlib
from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal.commands import CreateSession, EraseEntry, Receipt
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.erasing import erase_entry

LARGE = "secret " * 60_000
OTHER = ThreadKey("t", None, "agent", "s", "other")


async def erase(journal: Journal, seq: int, request_id: str = "erase", key: ThreadKey = KEY) -> Receipt:
    return await journal.driver.write(partial(erase_entry, key, EraseEntry(request_id=request_id, seq=seq)))


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def test_a_state_that_was_read_before_holds_no_longer_what_was_erased(played: Played) -> None:
    journal = played.journal
    turn = await played.submit(LARGE)
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    before = await journal.state(KEY)
    assert LARGE in before.context[0].text
    assert (await erase(journal, 1)).status == "accepted"
    assert (await journal.state(KEY)).context == ()
    assert await journal.checkpoint(KEY, before) is False
    await played.answer(turn, epoch, Text(text=LARGE))
    after = await journal.state(KEY)
    assert [message.role for message in after.context] == ["assistant"]
    assert await journal.checkpoint(KEY, after) is True
    assert await Journal(journal.driver).state(KEY) == after


async def test_content_another_thread_is_just_keeping_stays(driver: Driver, played: Played) -> None:
    journal = played.journal
    await played.submit(LARGE)
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "insert_request" and not inside.is_set():
            inside.set()
            await go_on.wait()

    driver.hook = hook
    keeping = asyncio.ensure_future(played.submit(LARGE, OTHER))
    await inside.wait()
    erasing = asyncio.ensure_future(erase(journal, 1))
    await asyncio.sleep(0.2)  # it has the time to go wrong
    assert not erasing.done()
    go_on.set()
    await asyncio.gather(keeping, erasing)
    [kept] = await journal.entries(OTHER)
    assert kept.payload.input.text == LARGE  # type: ignore[attr-defined]
    assert await proven(journal)


async def test_media_go_with_the_last_entry_that_names_them(played: Played, sql: Sql) -> None:
    bytes_ = {hashlib.sha256(content).hexdigest(): content for content in (b"one", b"two")}
    two = hashlib.sha256(b"two").hexdigest()
    turn = await played.submit("draw")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    blocks = [Media(mime="image/png", blob=sha) for sha in bytes_]
    answered = await played.answer(turn, epoch, *blocks, blobs=bytes_)
    second = await played.submit("again", OTHER)
    epoch = await played.claim(second, OTHER)
    await played.ask(second, epoch, OTHER)
    await played.answer(second, epoch, blocks[1], key=OTHER, blobs={two: b"two"})
    [responded] = [entry.seq for entry in answered.entries if entry.type == "model.responded"]
    await erase(played.journal, responded)
    assert await sql("SELECT sha256 FROM blobs") == [(two,)]
    assert await proven(played.journal)


async def test_the_title_of_a_session_can_be_erased_from_its_log(played: Played) -> None:
    journal = played.journal
    await played.execute(SESSION, CreateSession(request_id="create", title="Ann's divorce"))
    assert (await erase(journal, 1, key=SESSION.log)).status == "accepted"
    await played.submit("one")
    [created, _] = await journal.entries(SESSION.log)
    assert created.type == "session.created"
    session = await journal.session(SESSION)
    assert session is not None
    assert session.control.seq == 2
    assert await proven(journal)


async def test_an_erasure_is_a_request_like_any_other(played: Played) -> None:
    turn = await played.submit("one")
    await played.claim(turn)
    assert (await erase(played.journal, 1, "one")).code == "request_id_reused"
    first = await erase(played.journal, 1)
    again = await erase(played.journal, 1)
    assert (again.duplicate, again.seq) == (True, first.seq)
    assert (await erase(played.journal, 3)).code == "request_id_reused"
    assert (await erase(played.journal, 99, "beyond")).code == "unknown_entry"
    assert (await erase(played.journal, 1, "nowhere", OTHER)).code == "unknown_thread"
    assert await proven(played.journal)


@pytest.mark.parametrize("kind", ["thread.opened", "entry.erased"])
async def test_what_the_journal_cannot_do_without_is_not_erased(played: Played, kind: str) -> None:
    turn = await played.submit("one")
    await played.claim(turn)
    await erase(played.journal, 1)
    [seq] = [entry.seq for entry in await played.journal.entries(KEY) if entry.type == kind]
    assert (await erase(played.journal, seq, "again")).code == "not_erasable"
