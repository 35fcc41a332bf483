"""Deleting a session: the tombstone first, then what is in it, piece by piece.

Rule: after the tombstone's commit nothing of the session is found, and no command or run gets in any more, so what is
left may be erased in transactions of bounded size by whoever comes along. What was sealed cannot be read from then on,
for the session's data key goes in that commit. The session's row and name stay for ever.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from turnwright.journal.canonical import encode
from turnwright.journal.commands import DeleteSession, Receipt, Rejection
from turnwright.journal.control import REDUCER_VERSION, SessionControl
from turnwright.journal.counted import counted
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.edge import storable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, Touch, first, rows
from turnwright.journal.transact.requests import gone, rejected, remembered
from turnwright.journal.transact.rows import clock, dump, topic
from turnwright.journal.transact.schedules import TOPIC as SCHEDULES

ROWS_ERASED_MAX = 1_000
FORKS_NAMED_MAX = 5
NEEDED = "needed_by_forks"
BLOBS_ERASED_MAX = 50
TOPIC = "tombstones"
IN_A_THREAD = {
    "texts": "erase_texts",
    "payloads": "erase_payloads",
    "entries": "erase_entries",
    "turns": "erase_turns",
    "requests": "erase_requests",
    "questions": "erase_interactions",
    "ticks": "erase_ticks",
    "checkpoints": "erase_checkpoints",
}


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Who deleted a session and why; `counts` of what was erased so far, `erased_us` None: something is left."""

    request_id: str
    principal: str
    reason: str | None
    deleted_us: int
    erased_us: int | None
    counts: dict[str, int]


def bury_session(key: SessionKey, command: DeleteSession) -> Script[Receipt]:
    """Write the tombstone, if no turn of the session is active or queued; a second time, say that it is there."""
    command = storable(command)
    log = yield from first("lock_thread", key.log.canonical)
    session = yield from first("lock_session", key.canonical)
    if session is None:
        return rejected(command, UNKNOWN_SESSION)
    if session[3] is not None:
        return (yield from _again(session[0], command))
    known = None if log is None else (yield from remembered(log[0], command))
    if known is not None:
        return known
    refused = (yield from _busy(session[0])) or (yield from _needed(session[0]))
    if refused is not None:
        return rejected(command, refused)
    now_us = yield from clock()
    yield from first("bury_session", session[0], dump(SessionControl()), REDUCER_VERSION, now_us)
    yield from first(
        "insert_tombstone", session[0], command.request_id, command.principal, command.reason, now_us, encode({})
    )
    yield from first("delete_data_key", session[0])
    yield from first("bury_schedules", session[0], now_us)
    yield Touch(frozenset({topic(key), SCHEDULES}))
    return Receipt(command.request_id, "accepted")


def find_tombstone(key: SessionKey) -> Script[Tombstone | None]:
    """Who deleted the session and why; None when nobody did."""
    session = yield from first("find_session", key.canonical)
    row = None if session is None else (yield from first("find_tombstone", session[0]))
    return None if row is None else _tombstone(row)


def open_tombstones(after: int, limit: int) -> Script[list[int]]:
    """Ids of deleted sessions of which something is left, after one."""
    found = yield from rows("open_tombstones", after, limit)
    return [row[0] for row in found]


def erase_some(session_id: int) -> Script[bool]:
    """Erase one more piece of a deleted session; whether nothing is left now."""
    thread = yield from first("first_thread", session_id)
    locked = None if thread is None else (yield from first("lock_thread", thread[0]))
    row = yield from first("lock_tombstone", session_id)
    tombstone = None if row is None else _tombstone(row)
    if tombstone is None or tombstone.erased_us is not None:
        return True
    if thread is None:
        erased, done = yield from erase_rest(session_id)
    else:
        erased, done = ({} if locked is None else (yield from erase_in_thread(thread[0], locked[0]))), False
    counts = {name: tombstone.counts.get(name, 0) + erased.get(name, 0) for name in {*tombstone.counts, *erased}}
    erased_us = (yield from clock()) if done else None
    yield from first("write_tombstone", session_id, encode(counts), erased_us)
    yield Touch(frozenset({TOPIC}))
    return done


def count_also(session_id: int, name: str, count: int) -> Script[None]:
    """Add to the receipt of a deletion what was erased outside of the journal."""
    row = yield from first("lock_tombstone", session_id)
    if row is not None:
        tombstone = _tombstone(row)
        counts = tombstone.counts | {name: tombstone.counts.get(name, 0) + count}
        yield from first("write_tombstone", session_id, encode(counts), tombstone.erased_us)
        yield Touch(frozenset({TOPIC}))


def _again(session_id: int, command: DeleteSession) -> Script[Receipt]:
    row = yield from first("lock_tombstone", session_id)
    tombstone = None if row is None else _tombstone(row)
    if tombstone is None or (tombstone.erased_us is not None and tombstone.request_id != command.request_id):
        return rejected(command, (yield from gone(session_id)))
    return Receipt(command.request_id, "accepted", duplicate=True)


def _busy(session_id: int) -> Script[Rejection | None]:
    row = yield from first("count_unfinished", session_id)
    threads, turns = (0, 0) if row is None else row
    if not threads:
        return None
    what = f"{counted(turns, 'turn')} of {counted(threads, 'thread')} of the session"
    verb = "is" if turns == 1 else "are"
    return Rejection("busy", f"{what} {verb} active or queued; cancel the session and wait, then delete it")


def forks_elsewhere(key: SessionKey, limit: int) -> Script[list[ThreadKey]]:
    """Forks in other sessions that need entries of this one."""
    session = yield from first("find_session", key.canonical)
    found = [] if session is None else (yield from rows("forks_elsewhere", session[0], limit))
    return [ThreadKey.parse(row[0]) for row in found]


def _needed(session_id: int) -> Script[Rejection | None]:
    found = yield from rows("forks_elsewhere", session_id, FORKS_NAMED_MAX + 1)
    if not found:
        return None
    named = ", ".join(
        f"{key.agent}/{key.thread} of session {key.session}" for key in map(ThreadKey.parse, (row[0] for row in found))
    )
    more = " and others" if len(found) > FORKS_NAMED_MAX else ""
    return Rejection(
        NEEDED, f"forks begin with entries of it: {named}{more}; delete it with `make_forks_whole`, or them first"
    )


def erase_in_thread(canonical: str, thread_id: int) -> Script[dict[str, int]]:
    """The next piece of a thread, and the thread itself with the last one."""
    counts: dict[str, int] = {}
    for name, statement in IN_A_THREAD.items():
        erased = yield from rows(statement, thread_id, ROWS_ERASED_MAX)
        counts[name] = len(erased)
        if len(erased) >= ROWS_ERASED_MAX:
            return counts
    for statement in (
        "delete_deadline",
        "delete_hint",
        "delete_spent",
        "delete_drafts_of_thread",
        "delete_bases",
        "delete_thread",
    ):
        yield from first(statement, thread_id)
    counts["threads"] = int(not ThreadKey.parse(canonical).is_session_log)
    return counts


def erase_rest(session_id: int) -> Script[tuple[dict[str, int], bool]]:
    """What was enlisted for the session, also for threads that were never made; then what its threads shared."""
    enlisted = yield from rows("erase_enlisted", session_id, ROWS_ERASED_MAX)
    if len(enlisted) >= ROWS_ERASED_MAX:
        return {"enlisted": len(enlisted)}, False
    webhooks = yield from rows("erase_webhooks", session_id, ROWS_ERASED_MAX)
    if len(webhooks) >= ROWS_ERASED_MAX:
        return {"enlisted": len(enlisted), "webhooks": len(webhooks)}, False
    doomed = yield from rows("doom_snapshots", session_id, ROWS_ERASED_MAX)
    if len(doomed) >= ROWS_ERASED_MAX:
        return {"enlisted": len(enlisted), "webhooks": len(webhooks)}, False
    erased = yield from rows("erase_blobs", session_id, BLOBS_ERASED_MAX)
    if len(erased) < BLOBS_ERASED_MAX:
        yield from first("delete_counter", session_id)
        yield from first("delete_spent_of_session", session_id)
        yield from first("delete_data_key", session_id)  # whoever came late with words may have made another one
    counts = {"enlisted": len(enlisted), "webhooks": len(webhooks), "blobs": len(erased)}
    return counts, len(erased) < BLOBS_ERASED_MAX


def _tombstone(row: Row) -> Tombstone:
    request_id, principal, reason, deleted_us, erased_us, counts = row
    return Tombstone(request_id, principal, reason, deleted_us, erased_us, json.loads(bytes(counts)))
