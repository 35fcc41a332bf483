"""Taking in an exported session: written piece by piece where nobody sees it, proven there, and then shown.

Rule: until it is shown the session is hidden as a deleted one is, and its row in `imports` says by the digest of which
file; so a crash leaves nothing that can be seen, and whoever comes with the same file goes on. Every piece looks for
that row first. Nothing of the file is believed but what its entries prove; what they do not prove any more, because
content was erased, is taken as it stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from turnwright.journal.codec import GENESIS
from turnwright.journal.commands import PauseSession
from turnwright.journal.control import REDUCER_VERSION, SessionControl, ThreadControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Draft, SessionImported
from turnwright.journal.errors import CommandRejected, StoreCorrupt
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.interactions import Interaction
from turnwright.journal.script import Row, Script, Touch, batch, first, rows
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.commands import session_command
from turnwright.journal.transact.deleting import erase_in_thread, erase_rest
from turnwright.journal.transact.rows import (
    clock,
    dump,
    find_place,
    lock_session,
    thread_of,
    topic,
    write_session,
)
from turnwright.journal.transact.schedules import replace_schedules
from turnwright.journal.turn_status import TurnStatus

ABANDONED_S = 86_400
PAUSED_BECAUSE = "imported with turns that have not ended; resume the session to go on with them"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the entries of a thread with erased content do not prove any more."""

    control: ThreadControl
    session: SessionControl | None = None
    turns: tuple[TurnStatus, ...] = ()
    questions: tuple[Interaction, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A thread as the file says it is."""

    key: ThreadKey
    entries: int
    hash: bytes
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Whether there is place for the session. `other`: what an import of another file left is in its place."""

    session_id: int
    place: Literal["new", "begun", "other", "there", "deleted"]
    position: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that are written in one transaction; `position`: that of the last entry up to then."""

    blobs: tuple[Row, ...] = ()
    requests: tuple[Row, ...] = ()
    entries: tuple[Row, ...] = ()
    payloads: tuple[Row, ...] = ()
    position: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Who imports, why, and from where."""

    journal: str
    session: str
    digest: str
    principal: str
    reason: str | None


def begin_import(key: SessionKey, digest: str) -> Script[Begun]:
    """Make the hidden session, if there is none under its key."""
    session = yield from first("lock_session", key.canonical)
    if session is None:
        now_us, control = (yield from clock()), dump(SessionControl())
        who = (key.canonical, key.tenant, key.user, key.session)
        made = yield from first("insert_session", *who, control, REDUCER_VERSION, now_us)
        if made is not None:
            yield from first("bury_session", made[0], control, REDUCER_VERSION, now_us)
            yield from first("insert_counter", made[0])
            yield from first("insert_import", made[0], digest, now_us)
            return Begun(made[0], "new")
        session = yield from first("lock_session", key.canonical)
        assert session is not None, "somebody made it at the same time"
    if session[3] is None:
        return Begun(session[0], "there")
    found = yield from first("find_import", session[0])
    if found is None:
        return Begun(session[0], "deleted")
    if found[0] != digest:
        return Begun(session[0], "other")
    yield from first("renew_import", session[0], (yield from clock()))
    counter = yield from first("positions_of_session", session[0])
    assert counter is not None
    return Begun(session[0], "begun", counter[0] or 0)


def difference(threads: Sequence[Declared]) -> Script[str | None]:
    """In what the threads there are differ from those of the file, as far as these come; None: in nothing."""
    for thread in threads:
        name = "its log" if thread.key.is_session_log else f"thread {thread.key.agent}/{thread.key.thread}"
        place = yield from find_place(thread.key)
        if place is None:
            return f"{name} is not there"
        row = None if not thread.entries else (yield from first("entry_hash", place.id, thread.entries))
        if thread.entries and (row is None or bytes(row[0]) != thread.hash):
            return f"{name} is another one, or has not come as far"
    return None


def write_threads(key: SessionKey, begun: Begun, digest: str, threads: Sequence[Declared]) -> Script[None]:
    """Make the threads, in their order."""
    yield from _check(key, begun, digest)
    now_us, control = (yield from clock()), dump(ThreadControl())
    for thread in threads:
        of = thread.key
        where = (of.canonical, begun.session_id, of.tenant, of.agent, of.thread)
        yield from first("insert_thread", *where, GENESIS, now_us, control, REDUCER_VERSION)


def write_piece(key: SessionKey, begun: Begun, digest: str, piece: Piece) -> Script[None]:
    """Write rows; of entries those that are not there yet."""
    yield from _check(key, begun, digest)
    for blob in piece.blobs:
        yield from first("insert_blob", begun.session_id, *blob)
    yield from batch("import_request", piece.requests)
    if piece.entries:
        yield from batch("import_entry", piece.entries)
        yield from batch("import_payload", piece.payloads)
        yield from first("move_position", begun.session_id, piece.position)


def show(key: SessionKey, begun: Begun, origin: Origin, *, go_on: bool) -> Script[tuple[int, bool]]:
    """Let the session be seen, with an entry that says where it came from; how many turns have not ended, and whether
    it was paused because of that.
    """
    log = yield from first("lock_thread", key.log.canonical)
    yield from _check(key, begun, origin.digest)
    counter = yield from first("positions_of_session", begun.session_id)
    if log is None or counter is None or counter[0] != counter[1] or counter[1:] != (counter[1], 1, counter[1]):
        raise StoreCorrupt("positions of the imported session are missing", key.canonical)
    created = yield from first("first_entry_time", begun.session_id)
    unfinished = yield from first("count_unfinished", begun.session_id)
    assert created is not None
    assert unfinished is not None
    yield from first("show_session", begun.session_id, created[0])
    yield from first("delete_import", begun.session_id)
    control = yield from _say_so(key, log, origin)
    yield from replace_schedules(begun.session_id, control)
    paused = bool(unfinished[1]) and not go_on and not control.pause.on
    if paused:
        request = f"import-{origin.digest[:32]}"
        yield from session_command(
            key, PauseSession(request_id=request, principal=origin.principal, reason=PAUSED_BECAUSE)
        )
    yield Touch(frozenset({topic(key), topic(key.log)}))
    return int(unfinished[1]), paused


def _say_so(key: SessionKey, log: Row, origin: Origin) -> Script[SessionControl]:
    row = yield from thread_of(key.log, log)
    session = yield from lock_session(key)
    assert session is not None
    payload = SessionImported(
        principal=origin.principal,
        reason=origin.reason,
        journal=origin.journal,
        session=origin.session,
        digest=origin.digest,
    )
    drafts = [Draft(f"import:{origin.digest}", payload)]
    control = row.control.model_copy(update={"seq": row.seq + 1})
    [entry] = yield from append_drafts(row, drafts, control, (yield from clock()), runnable=False)
    after = evolve_session(session.control, entry)
    yield from write_session(session.id, after, entry.at_us)
    return after


def abandoned_imports(limit: int) -> Script[list[int]]:
    """Sessions whose import was cut off, and that nobody went on with for so long that nobody will."""
    now_us = yield from clock()
    found = yield from rows("abandoned_imports", now_us - ABANDONED_S * SECOND_US, limit)
    return [row[0] for row in found]


def discard_some(session_id: int) -> Script[bool]:
    """Erase one more piece of what an import left hidden; whether nothing is left now."""
    if (yield from first("find_import", session_id)) is None:
        return True
    thread = yield from first("first_thread", session_id)
    if thread is not None:
        locked = yield from first("lock_thread", thread[0])
        if locked is not None:
            yield from erase_in_thread(thread[0], locked[0])
        return False
    _, done = yield from erase_rest(session_id)
    if done:
        yield from first("delete_import", session_id)
        yield from first("delete_data_key", session_id)
        yield from first("delete_session", session_id)
    return done


def _check(key: SessionKey, begun: Begun, digest: str) -> Script[None]:
    session = yield from first("lock_session", key.canonical)
    found = yield from first("find_import", begun.session_id)
    if session is None or session[0] != begun.session_id or session[3] is None or found is None or found[0] != digest:
        raise lost()


def lost() -> CommandRejected:
    """Of an import that another one, or the sweeper, took the place of."""
    return CommandRejected("import_lost", "somebody discarded what was imported up to now; import the file again")


def told(thread: Declared, seq: int | None, problem: str) -> str:
    """What is wrong with a thread of the file, and where."""
    name = "the session's log" if thread.key.is_session_log else f"thread {thread.key.agent}/{thread.key.thread}"
    return f"{name}: {problem}" if seq is None else f"{name}, entry {seq}: {problem}"


def twice(turn: str, canonical: str, target: ThreadKey) -> CommandRejected:
    """Of a turn that another thread of the journal has."""
    where, named = ThreadKey.parse(canonical), ""
    if (where.tenant, where.user) == (target.tenant, target.user):  # else it is not for whoever imports to know
        named = f", on thread {where.agent}/{where.thread} of session {where.session}"
    return CommandRejected(
        "turn_exists",
        f"turn {turn} is in this journal already{named}: a session is in a journal once; delete that one first, import "
        "into another journal, or fork a thread",
    )
