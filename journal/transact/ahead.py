"""What a thread is to begin or go on with, read before it is locked.

Rule: reading a long history takes seconds, and nobody else writes to a thread that is locked, on SQLite to none at all.
So the command's transaction takes what was read ahead, if nothing of it was erased since: an erasure stands in the log
of every thread that it reaches. Else all of it begins anew.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import ForkThread, MakeWhole, RewindThread
from turnwright.journal.edge import storable
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Script, first
from turnwright.journal.transact.bases import FIRST_SEQ, Loaded, hash_at, load_at, load_state, origin_of
from turnwright.journal.transact.content import delete_unused_media
from turnwright.journal.transact.locking import lock_in_session
from turnwright.journal.transact.reading import find_blob, missing_blobs
from turnwright.journal.transact.rows import Place, ThreadRow, find_place, find_session_id

Beginning: TypeAlias = ForkThread | RewindThread | MakeWhole


class Ahead(NamedTuple):
    """What was read while the thread stood at `seq`. `now`: for a rewind, its state then."""

    thread_id: int
    seq: int
    hash: bytes
    loaded: Loaded
    now: AgentState | None = None


class Outdated(Exception):
    """Leaves the transaction of a command: what it begins with is to be read (again) first."""


def read_ahead(key: ThreadKey, command: Beginning) -> Script[Ahead | None]:
    """What the command begins with; None: it is known already, or there is nothing that it could begin with.

    Raises:
        StoreCorrupt: it cannot be loaded.
    """
    command = storable(command)
    place, session_id = (yield from find_place(key)), (yield from find_session_id(key.session_key))
    if place is None or session_id is None:
        return None
    if (yield from first("find_request", place.id, command.request_id)) is not None:
        return None
    head = yield from hash_at(place, place.seq)
    found = yield from _where(key, place, command)
    if head is None or found is None:
        return None
    loaded = yield from load_at(*found)
    now = (yield from load_state(key)) if isinstance(command, RewindThread) else None
    return Ahead(place.id, place.seq, head, loaded, now)


def confirmed(row: ThreadRow, ahead: Ahead | None) -> Script[Loaded]:
    """What was read ahead, for the thread that is locked now.

    Raises:
        Outdated: it was not read, or something of it was erased since.
    """
    if ahead is None or ahead.thread_id != row.id:
        raise Outdated
    there = yield from hash_at(Place(row.id, row.seq, row.total_bytes), ahead.seq)
    if there != ahead.hash or (yield from first("find_erasure", row.id, ahead.seq)) is not None:
        raise Outdated
    return ahead.loaded


def missing_media(key: ThreadKey, ahead: Ahead) -> Script[tuple[str, ...]]:
    """The media of what was read ahead whose bytes are not with the thread's session."""
    session_id = yield from find_session_id(key.session_key)
    if session_id is None:
        return ()
    return tuple(sorted((yield from missing_blobs(session_id, set(media_of(ahead.loaded.state))))))


def copy_blob(key: ThreadKey, ahead: Ahead, sha256: str) -> Script[None]:
    """Keep the bytes with the session of a fork that is about to be made whole.

    Raises:
        Outdated: something was erased since; what is copied then nobody would delete again.
    """
    locked = yield from lock_in_session(key)
    if locked is None or locked.session.deleted:
        raise Outdated
    yield from confirmed(locked.row, ahead)
    body = yield from find_blob(key.session_key, sha256)
    if body is not None:
        yield from first("insert_blob", locked.row.session_id, sha256, len(body), body)


def drop_blob(key: ThreadKey, sha256: str) -> Script[None]:
    """Delete the bytes again, unless something of the session has them."""
    locked = yield from lock_in_session(key)
    if locked is not None and not locked.session.deleted:
        yield from delete_unused_media(locked.row.session_id, (sha256,))


def _where(key: ThreadKey, place: Place, command: Beginning) -> Script[tuple[ThreadKey, Place, int] | None]:
    """The thread and the entry whose state it is."""
    if isinstance(command, MakeWhole):
        base = yield from first("find_base", place.id, FIRST_SEQ)
        return None if base is None or base[6] is not None else origin_of(key, base)
    if isinstance(command, RewindThread):
        at = command.to_seq if command.expected_seq == place.seq else 0
    else:
        at = place.seq if command.at_seq is None else command.at_seq
    return (key, place, at) if 0 < at <= place.seq else None
