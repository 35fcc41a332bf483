"""Pages are bounded in bytes as well as in entries, and no reader notices."""

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal import store_admin
from turnwright.journal.commands import Inject, Steer
from turnwright.journal.errors import InvalidInput, StoreCorrupt
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact import overview, reading, walking

LARGE = 200_000
COUNT = 20


@pytest.fixture
async def large(played: Played, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A thread of entries of which five fill a page."""
    monkeypatch.setattr(reading, "PAGE_BYTES_MAX", 5 * LARGE)
    monkeypatch.setattr(walking, "PAGE_BYTES_MAX", 5 * LARGE)
    await played.submit("one")
    for n in range(COUNT):
        await played.execute(KEY, Inject(request_id=f"i{n}", message=user(f"{n} ".ljust(LARGE, "."))))
    return played.journal


async def test_a_page_of_large_entries_is_short_and_the_next_goes_on(large: Journal) -> None:
    seqs: list[int] = []
    while page := await large.entries(KEY, seqs[-1] if seqs else 0):
        assert len(page) <= 7
        seqs += [entry.seq for entry in page]
    assert seqs == list(range(1, COUNT + 2))
    assert [entry.seq for entry in await large.entries(KEY, 3, limit=2)] == [4, 5]
    assert await large.entries(KEY, 3, limit=0) == []


async def test_a_session_s_timeline_and_state_are_whole(large: Journal) -> None:
    positions: list[int] = []
    while page := await large.timeline(SESSION, positions[-1] if positions else 0):
        assert len(page) <= 8
        positions += [located.entry.position for located in page]
    assert positions == list(range(1, COUNT + 3))
    assert len((await large.state(KEY)).inbox) == COUNT + 1


async def test_a_turn_s_entries_come_in_small_pages(
    large: Journal, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "PAGE_BYTES_MAX", 5 * LARGE)
    turn = turn_id(KEY, "one")
    for n in range(COUNT):
        await played.execute(KEY, Steer(request_id=f"s{n}", turn_id=turn, message=user("x")))
    after, seqs = 0, list[int]()
    while True:
        page = await store_admin.read_turn_page(large, KEY, turn, after)
        assert page is not None
        assert len(page.entries) <= reading.SMALL_PAGE_ENTRIES
        seqs += [entry.seq for entry in page.entries]
        after = page.through_seq
        if not page.entries:
            break
    assert seqs == [1, *range(COUNT + 2, 2 * COUNT + 2)]


async def test_a_session_s_log_takes_no_command_of_a_thread(played: Played) -> None:
    await played.submit("one")
    with pytest.raises(InvalidInput):
        await played.journal.execute(SESSION.log, Inject(request_id="i", message=user("x")))


async def test_everything_is_proven_page_by_page(large: Journal) -> None:
    proofs = [proof async for proof in verify(large)]
    assert [finding for proof in proofs for finding in proof.findings] == []
    assert sum(proof.entries for proof in proofs) == COUNT + 2


async def test_a_state_is_not_read_from_a_thread_whose_end_is_missing(played: Played, sql: Sql) -> None:
    await played.submit("one")
    await played.submit("two")
    await sql("DELETE FROM entries WHERE seq = 2")
    with pytest.raises(StoreCorrupt, match="entry 2 is missing"):
        await Journal(played.journal.driver).state(KEY)


async def test_a_state_of_a_journal_from_before_a_restored_backup_is_forgotten(played: Played, sql: Sql) -> None:
    await played.submit("one")
    [(control, hash_, at_us)] = await sql("SELECT control, hash, at_us FROM threads WHERE agent <> ''")
    await played.submit("lost")
    assert len((await played.journal.state(KEY)).inbox) == 2
    await sql("DELETE FROM entries WHERE seq = 2")
    await sql("DELETE FROM payloads WHERE seq = 2")
    await sql(
        "UPDATE threads SET seq = 1, control = $1, hash = $2, at_us = $3 WHERE agent <> ''", control, hash_, at_us
    )
    assert [held.message.text for held in (await played.journal.state(KEY)).inbox] == ["one"]
    await sql("DELETE FROM turns WHERE queued_seq = 2")
    await sql("DELETE FROM requests WHERE request_id = 'lost'")
    await played.submit("another")
    assert [held.message.text for held in (await played.journal.state(KEY)).inbox] == ["one", "another"]
