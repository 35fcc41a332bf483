"""Reads: entries of a thread, the timeline of a session, rows of turns, threads and sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from turnwright.journal.codec import decode
from turnwright.journal.entries import Entry
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.transact.rows import Place, find_place, find_session_id
from turnwright.journal.transact.turns import find_turn
from turnwright.journal.turn_status import TurnStatus

PAGE_ENTRIES_MAX = 1_000
PAGE_BYTES_MAX = 32 * 1024 * 1024
SMALL_PAGE_ENTRIES = 8
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Located:
    """An entry of a session's timeline, with the thread it is in."""

    thread: ThreadKey
    entry: Entry


def read_thread(key: ThreadKey, after_seq: int, limit: int, until_seq: int | None = None) -> Script[list[Entry]]:
    """A page of a thread's entries after `after_seq`, in order: up to `limit`, or fewer large ones.

    Raises:
        StoreCorrupt: a row cannot be what was written, or one is missing.
        UnknownEntryType: a required entry of a newer version.
    """
    place = yield from find_place(key)
    if place is None:
        return []
    until = place.seq if until_seq is None else min(until_seq, place.seq)
    return (yield from read_page(key, place, after_seq, min(until, after_seq + limit)))


def read_page(key: ThreadKey, place: Place, after_seq: int, until_seq: int) -> Script[list[Entry]]:
    """The entries after one seq up to another, as far as they fit in a page; none only if there are none.

    Raises:
        StoreCorrupt: a row cannot be what was written, or one is missing.
        UnknownEntryType: a required entry of a newer version.
    """
    if until_seq <= after_seq:
        return []
    limit, end = min(until_seq - after_seq, PAGE_ENTRIES_MAX), until_seq
    if place.total_bytes > PAGE_BYTES_MAX:
        end = yield from _end("thread_page_end", place.id, after_seq, limit)
    found = yield from rows("read_entries", place.id, after_seq, end, limit)
    where = key.canonical
    entries = [entry_of(item, where) for item in found]
    for expected, entry in enumerate(entries, start=after_seq + 1):
        if entry.seq != expected:
            raise StoreCorrupt(f"entry {expected} is missing", where, expected)
    if not entries:
        raise StoreCorrupt(f"entry {after_seq + 1} is missing", where, after_seq + 1)
    return entries


def _end(statement: str, owner_id: int, after: int, limit: int) -> Script[int]:
    """Where a page of so many entries ends; earlier if they are large, for all of it is held in memory."""
    if limit <= SMALL_PAGE_ENTRIES:
        return after + limit
    row = yield from first(statement, owner_id, after, limit, PAGE_BYTES_MAX)
    return after if row is None or row[0] is None else int(row[0])


def read_session(key: SessionKey, after_position: int, limit: int) -> Script[list[Located]]:
    """A page of the entries of all threads of a session after a position, in order of position."""
    session_id = yield from find_session_id(key)
    if session_id is None:
        return []
    limit = max(0, min(limit, PAGE_ENTRIES_MAX))
    end = yield from _end("session_page_end", session_id, after_position, limit)
    found = yield from rows("read_session", session_id, after_position, end, limit)
    located = [Located(ThreadKey.parse(item[-1]), entry_of(item[:-1], item[-1])) for item in found]
    for expected, item in enumerate(located, start=after_position + 1):
        if item.entry.position != expected:
            raise StoreCorrupt(f"position {expected} of session {key.canonical} is missing")
    return located


def read_turn(key: ThreadKey, turn_id: str) -> Script[TurnStatus | None]:
    """The row of a turn."""
    place = yield from find_place(key)
    return None if place is None else (yield from find_turn(turn_id, place.id))


def read_heads(thread_ids: Collection[int]) -> Script[dict[int, int]]:
    """The last seq of each of these threads, in one statement."""
    found = yield from rows("thread_heads", json.dumps(sorted(thread_ids)))
    return {row[0]: row[1] for row in found}


def busy_threads(key: SessionKey, after_thread: int, limit: int) -> Script[dict[int, ThreadKey]]:
    """Threads of a session that have an active or queued turn, by id, after one."""
    session_id = yield from find_session_id(key)
    if session_id is None:
        return {}
    found = yield from rows("busy_threads", session_id, after_thread, limit)
    return {row[0]: ThreadKey.parse(row[1]) for row in found}


def read_blobs(key: SessionKey, wanted: Collection[str]) -> Script[dict[str, bytes]]:
    """The bytes of a session's media, by their SHA-256.

    Raises:
        StoreCorrupt: one is missing.
    """
    found: dict[str, bytes] = {}
    for sha in sorted(wanted):
        body = yield from find_blob(key, sha)
        if body is None:
            raise StoreCorrupt(f"blob {sha} of session {key.canonical} is missing")
        found[sha] = body
    return found


def find_blob(key: SessionKey, sha256: str) -> Script[bytes | None]:
    """The bytes of one of a session's media, or of one that a fork in it was told before; None: there are none."""
    session_id = yield from find_session_id(key)
    if session_id is None:
        return None
    row = yield from first("find_blob", session_id, sha256)
    if row is None:
        row = yield from first("find_inherited_blob", session_id, sha256)
    return None if row is None else bytes(row[0])


def missing_blobs(session_id: int, wanted: Collection[str]) -> Script[set[str]]:
    """Those of these SHA-256 under which the session has no bytes; of none, nothing is asked."""
    possible = sorted(filter(_SHA256.fullmatch, wanted))
    found = (yield from rows("stored_blobs", session_id, json.dumps(possible))) if possible else ()
    return set(wanted) - {row[0] for row in found}


def entry_of(row: Row, thread: str) -> Entry:
    """A row of `read_entries` as an entry.

    Columns: seq, entry_id, type, version, position, at_us, turn_id, run, step, epoch, required, prev_hash, hash,
    body, blob's sha256, blob's body.
    """
    seq, entry_id, kind, version, position, at_us, turn_id, run, step, epoch, required, prev, hash_, *content = row
    body, sha, blob = content
    if sha is not None and blob is None:
        raise StoreCorrupt(f"blob {sha} of the entry is missing", thread, seq)
    stored = blob if body is None else body
    payload = decode(kind, version, stored, required=bool(required), thread=thread, seq=seq)
    return Entry(
        entry_id, payload, turn_id, run, step, epoch,
        seq=seq, position=position, at_us=at_us, prev_hash=bytes(prev), hash=bytes(hash_),
    )  # fmt: skip
