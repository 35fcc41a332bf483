"""Verify finds whatever was changed behind the journal's back, and rebuild restores what is only a projection."""

from functools import partial

import pytest

from tests.integration.worker.conftest import Seeds, Sql
from turnwright.journal.commands import (
    CancelSession,
    CancelTurn,
    EraseEntry,
    PauseSession,
    PauseThread,
    RespondModel,
    ResumeSession,
    Steer,
    Submit,
)
from turnwright.journal.driver import Driver
from turnwright.journal.entries import EntryErased
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Text, ToolCall, Usage, user
from turnwright.journal.script import rows
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild, statistics, verify
from turnwright.journal.transact.erasing import erase_entry
from turnwright.journal.transact.walking import Finding

LARGE = "x" * 300_000
S = SessionKey("t", None, "s")
MAIN = ThreadKey("t", None, "agent", "s", "main")


@pytest.fixture
async def lived_in(journal: Journal, seeds: Seeds) -> Journal:
    """A journal in which a bit of everything has happened."""
    hold = await journal.driver.hold_presence("w-1", {}, lease_s=600)
    key = await seeds.calling("main", hold.name)
    first = turn_id(key, "first")
    await journal.execute(key, Steer(request_id="steer", turn_id=first, message=user("and this")))
    call = ToolCall(id="c1", name="missing", arguments={"a": 1})
    usage = Usage(input_tokens=10, output_tokens=5)
    await journal.run(key, RespondModel(turn_id=first, epoch=1, step=1, ordinal=1, blocks=(call,), usage=usage))
    await journal.run(
        key, RespondModel(turn_id=first, epoch=1, step=1, ordinal=1, blocks=(Text(text="late"),), usage=usage)
    )
    large = Submit(request_id="large", turn_id=turn_id(key, "large"), input=user(LARGE))
    await journal.execute(key, large)
    assert await journal.checkpoint(key, await journal.state(key))
    await seeds.thread("held")
    await journal.execute(ThreadKey("t", None, "agent", "s", "held"), PauseThread(request_id="p"))
    await journal.execute(S, PauseSession(request_id="ps"))
    await journal.execute(S, ResumeSession(request_id="rs", revision=1))
    await seeds.calling("doomed", hold.name, "other")
    await journal.execute(SessionKey("t", None, "other"), CancelSession(request_id="c"))
    await journal.dispatch(ThreadKey("t", None, "agent", "other", "doomed"))
    return journal


async def findings(journal: Journal, session: SessionKey | None = None) -> list[Finding]:
    return [finding async for proof in verify(journal, session) for finding in proof.findings]


async def erase(driver: Driver, seq: int, request_id: str = "erase") -> None:
    command = EraseEntry(request_id=request_id, principal="alice", reason="asked to", seq=seq)
    receipt = await driver.write(partial(erase_entry, MAIN, command))
    assert receipt.status == "accepted", receipt


async def rebuilt(journal: Journal) -> list[str]:
    return [done.kept async for done in rebuild(journal) if done.kept]


async def test_an_undisturbed_journal_is_proven_whole(lived_in: Journal) -> None:
    proofs = [proof async for proof in verify(lived_in)]
    assert [finding for proof in proofs for finding in proof.findings] == []
    assert sum(proof.entries for proof in proofs) == (await statistics(lived_in)).counts["entries"]
    assert len(proofs) == 5 + 2 + 1  # threads and logs, sessions, and rows of nobody


async def test_one_session_can_be_proven_alone(lived_in: Journal) -> None:
    where = [proof.where async for proof in verify(lived_in, SessionKey("t", None, "other"))]
    assert len(where) == 3
    assert all("other" in key for key in where)


THREAD = "thread_id = (SELECT id FROM threads WHERE thread = 'main')"
HEAD = "thread = 'main'"
CORRUPTIONS: dict[str, tuple[str, str, int | None]] = {
    "a byte of a body": (f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 2", "chain", 2),
    "a salt": (f"UPDATE payloads SET salt = $1 WHERE {THREAD} AND seq = 2", "chain", 2),
    "a hash": (f"UPDATE entries SET hash = $1 WHERE {THREAD} AND seq = 2", "chain", 2),
    "the link to the entry before": (f"UPDATE entries SET prev_hash = $1 WHERE {THREAD} AND seq = 3", "chain", 3),
    "a type": (f"UPDATE entries SET type = 'turn.paused' WHERE {THREAD} AND seq = 2", "chain", 2),
    "an epoch": (f"UPDATE entries SET epoch = 9 WHERE {THREAD} AND seq = 4", "chain", 4),
    "an entry id": (f"UPDATE entries SET entry_id = 'x' WHERE {THREAD} AND seq = 3", "chain", 3),
    "a version": (f"UPDATE entries SET version = 99 WHERE {THREAD} AND seq = 3", "chain", 3),
    "a turn": (f"UPDATE entries SET turn_id = 'x' WHERE {THREAD} AND seq = 4", "chain", 4),
    "a step": (f"UPDATE entries SET step = 9 WHERE {THREAD} AND seq = 4", "chain", 4),
    "a run": (f"UPDATE entries SET run = 'x' WHERE {THREAD} AND seq = 4", "chain", 4),
    "a missing entry": (f"DELETE FROM entries WHERE {THREAD} AND seq = 3", "sequence", 3),
    "a missing payload": (f"DELETE FROM payloads WHERE {THREAD} AND seq = 3", "body", 3),
    "a body that was taken away": (f"UPDATE payloads SET body = NULL WHERE {THREAD} AND seq = 3", "chain", 3),
    "a missing blob": ("DELETE FROM blobs", "blob", None),
    "a changed blob": ("UPDATE blobs SET body = $1", "blob", None),
    "a time that runs backwards": (f"UPDATE entries SET at_us = 5 WHERE {THREAD} AND seq = 3", "sequence", 3),
    "the seq of the head": (f"UPDATE threads SET seq = seq + 1 WHERE {HEAD}", "head", None),
    "the hash of the head": (f"UPDATE threads SET hash = $1 WHERE {HEAD}", "head", None),
    "the epoch of the head": (f"UPDATE threads SET epoch = 7 WHERE {HEAD}", "head", None),
    "the work of the head": (f"UPDATE threads SET runnable = 1 - runnable WHERE {HEAD}", "head", None),
    "the bytes of the head": (f"UPDATE threads SET total_bytes = 1 WHERE {HEAD}", "head", None),
    "a control": (f"UPDATE threads SET control = $1 WHERE {HEAD}", "control", None),
    "a turn's phase": ("UPDATE turns SET phase = 'completed' WHERE phase = 'queued'", "turns", None),
    "a turn's row": (f"UPDATE turns SET body = $1 WHERE {THREAD}", "turns", None),
    "a missing turn": (f"DELETE FROM turns WHERE {THREAD}", "turns", None),
    "a checkpoint": ("UPDATE checkpoints SET body = $1", "checkpoint", None),
    "a missing request": ("DELETE FROM requests WHERE request_id = 'large'", "request", None),
    "a missing request of a command": ("DELETE FROM requests WHERE request_id = 'steer'", "request", None),
    "a receipt": ("UPDATE requests SET receipt = $1 WHERE request_id = 'large'", "request", None),
    "a session's control": ("UPDATE sessions SET control = $1 WHERE session = 's'", "session", None),
    "a session's flag": ("UPDATE sessions SET paused = 1 WHERE session = 's'", "session", None),
    "a position": (f"UPDATE entries SET position = 1000 WHERE {THREAD} AND seq = 3", "position", None),
    "a counter": ("UPDATE counters SET position = position + 1", "position", None),
    "a deadline": (f"INSERT INTO deadlines SELECT id, 1 FROM threads WHERE {HEAD}", "deadline", None),
    "a payload of no entry": (
        f"INSERT INTO payloads (thread_id, seq, salt, body) SELECT id, 999, $1, $1 FROM threads WHERE {HEAD}",
        "stray",
        None,
    ),
    "a thread's row": (f"DELETE FROM threads WHERE {HEAD}", "stray", None),
}


@pytest.mark.parametrize("what", CORRUPTIONS)
async def test_what_was_changed_is_found_and_named(lived_in: Journal, sql: Sql, what: str) -> None:
    statement, check, seq = CORRUPTIONS[what]
    await sql(statement, *([b"\x00" * 32] if "$1" in statement else []))
    found = await findings(lived_in)
    matching = [finding for finding in found if finding.check == check]
    assert matching, found
    assert seq is None or seq in {finding.seq for finding in matching}
    assert len(found) <= 20, "one fault is told once or a few times, not for each entry after it"


async def test_one_flipped_bit_of_a_body_is_found(lived_in: Journal, sql: Sql) -> None:
    [(body,)] = await sql(f"SELECT body FROM payloads WHERE {THREAD} AND seq = 2")
    flipped = bytearray(bytes(body))
    flipped[len(flipped) // 2] ^= 1
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 2", bytes(flipped))
    assert {(finding.where, finding.seq) for finding in await findings(lived_in) if finding.check == "chain"} == {
        (MAIN.canonical, 2)
    }


@pytest.mark.parametrize("seq", [1, 8])
async def test_an_erased_entry_still_verifies_and_says_who_erased_it(
    lived_in: Journal, driver: Driver, seq: int
) -> None:
    await erase(driver, seq)
    await erase(driver, seq, "erase again")
    proofs = {proof.where: proof async for proof in verify(lived_in)}
    assert [finding for proof in proofs.values() for finding in proof.findings] == []
    assert proofs[MAIN.canonical].erased == 1
    [erased] = [entry for entry in await lived_in.entries(MAIN) if entry.type == "entry.erased"]
    assert isinstance(erased.payload, EntryErased)
    assert (erased.payload.erased_seq, erased.payload.principal, erased.payload.reason) == (seq, "alice", "asked to")


async def test_an_erased_large_entry_leaves_no_bytes_behind(lived_in: Journal, driver: Driver, sql: Sql) -> None:
    [(seq,)] = await sql("SELECT seq FROM payloads WHERE blob IS NOT NULL")
    await lived_in.execute(MAIN, CancelTurn(request_id="not that", turn_id=turn_id(MAIN, "large")))
    await erase(driver, seq)
    assert await sql("SELECT count(*) FROM blobs") == [(0,)]
    assert await sql("SELECT count(*) FROM checkpoints") == [(0,)]
    assert await findings(lived_in) == []


async def test_content_that_is_gone_without_a_word_is_found(lived_in: Journal, driver: Driver, sql: Sql) -> None:
    await erase(driver, 3)
    [(last,)] = await sql(f"SELECT seq FROM threads WHERE {HEAD}")
    # The erasure's own entry is the last: without it the chain still holds, and the content is missing.
    [(hash_, at_us)] = await sql(f"SELECT hash, at_us FROM entries WHERE {THREAD} AND seq = $1", last - 1)
    await sql(f"DELETE FROM entries WHERE {THREAD} AND seq = $1", last)
    await sql(f"DELETE FROM payloads WHERE {THREAD} AND seq = $1", last)
    await sql(f"UPDATE threads SET seq = $1, hash = $2, at_us = $3 WHERE {HEAD}", last - 1, bytes(hash_), at_us)
    assert ("erasure", 3) in {(finding.check, finding.seq) for finding in await findings(lived_in)}


REPAIRED = [
    "the seq of the head",
    "the hash of the head",
    "the epoch of the head",
    "the work of the head",
    "the bytes of the head",
    "a control",
    "a turn's phase",
    "a turn's row",
    "a missing turn",
    "a checkpoint",
    "a session's control",
    "a session's flag",
    "a counter",
    "a deadline",
]


@pytest.mark.parametrize("what", REPAIRED)
async def test_what_is_a_projection_is_rebuilt_from_the_entries(lived_in: Journal, sql: Sql, what: str) -> None:
    before = await snapshot(lived_in)
    statement, _, _ = CORRUPTIONS[what]
    await sql(statement, *([b"\x00" * 32] if "$1" in statement else []))
    assert await rebuilt(lived_in) == []
    assert await findings(lived_in) == []
    assert await snapshot(lived_in) == before


async def test_rebuilding_changes_nothing_that_was_right(lived_in: Journal, sql: Sql) -> None:
    tables = "SELECT id, seq, hash, control, queued, active_turn, runnable, total_bytes FROM threads ORDER BY id"
    turns = "SELECT turn_id, queue_order, phase, pause, body, created_us FROM turns ORDER BY turn_id"
    before = await sql(tables), await sql(turns)
    assert await rebuilt(lived_in) == []
    assert (await sql(tables), await sql(turns)) == before


async def test_deleted_checkpoints_lose_nothing(lived_in: Journal, sql: Sql) -> None:
    before = await snapshot(lived_in)
    await sql("DELETE FROM checkpoints")
    assert await snapshot(lived_in) == before
    assert await rebuilt(lived_in) == []
    assert (await statistics(lived_in)).counts["checkpoints"] == 1


@pytest.mark.parametrize("what", ["a byte of a body", "a missing entry", "a missing blob", "an entry id"])
async def test_what_the_entries_do_not_prove_is_not_overwritten(lived_in: Journal, sql: Sql, what: str) -> None:
    statement, _, _ = CORRUPTIONS[what]
    await sql(statement, *([b"\x00" * 32] if "$1" in statement else []))
    head = await sql(f"SELECT * FROM threads WHERE {HEAD}")
    assert any("main" in why or "seq" in why for why in await rebuilt(lived_in))
    assert await sql(f"SELECT * FROM threads WHERE {HEAD}") == head


async def test_a_thread_with_erased_content_keeps_its_control(lived_in: Journal, driver: Driver, sql: Sql) -> None:
    await erase(driver, 1)
    head = await sql(f"SELECT * FROM threads WHERE {HEAD}")
    assert await rebuilt(lived_in) == ["the content of 1 entries was erased"]
    assert await sql(f"SELECT * FROM threads WHERE {HEAD}") == head


async def test_a_rebuilt_thread_goes_on(lived_in: Journal, seeds: Seeds) -> None:
    assert await rebuilt(lived_in) == []
    await seeds.submit(MAIN, "after")
    assert await findings(lived_in) == []


async def test_the_numbers_are_those_of_the_journal(lived_in: Journal, sql: Sql) -> None:
    counted = await statistics(lived_in)
    [(entries,)] = await sql("SELECT count(*) FROM entries")
    assert counted.counts["entries"] == entries
    assert counted.counts["sessions"] == 2
    assert counted.counts["threads"] == 3
    assert counted.counts["blobs"] == 1
    assert counted.turns == {"cancelling": 1, "queued": 2, "running": 1}
    assert counted.journal_id == await lived_in.journal_id()


async def snapshot(journal: Journal) -> list[object]:
    """What callers see of it, with nothing cached."""
    fresh = Journal(journal.driver)
    threads = [MAIN, ThreadKey("t", None, "agent", "s", "held"), ThreadKey("t", None, "agent", "other", "doomed")]
    seen: list[object] = []
    for key in threads:
        row = await fresh.thread(key)
        assert row is not None
        seen += [row.control, row.seq, row.hash, row.runnable, await fresh.state(key)]
        seen += [await fresh.turn(key, turn_id(key, request)) for request in ("first", "large")]
    for session in (S, SessionKey("t", None, "other")):
        found = await fresh.session(session)
        assert found is not None
        seen.append(found.control)
    return seen


async def test_what_belongs_to_nothing_is_looked_for_in_every_table(
    sql: Sql, journal: Journal, journal_url: str
) -> None:
    if journal_url.startswith("sqlite"):
        columns = "SELECT m.name, p.name FROM sqlite_master AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table'"
    else:
        columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    owned = {table for table, column in await sql(columns) if column in ("thread_id", "session_id", "log_id")}
    looked = {table for table, _ in await journal.driver.read(partial(rows, "count_strays"))}
    assert owned <= looked, owned - looked
