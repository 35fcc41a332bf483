"""Erasing the content of an entry, so that the chain still verifies.

Rule: an erased payload keeps its row. Its salt gives way to the salted digest of what stood there, which is what
the chain covers and which, without the salt, tells nothing; `entry.erased` says who did it and why. What had
been folded from the content is folded no more, so checkpoints of the thread go with it. The session is locked
meanwhile: another thread might just be keeping the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.codec import body_digest, decode
from turnwright.journal.commands import EraseEntry, Receipt, Rejection
from turnwright.journal.edge import storable
from turnwright.journal.entries import Draft, EntryErased, ThreadForked, ThreadOpened
from turnwright.journal.errors import JournalError
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Row, Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.commands import Done, Undo
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.requests import rejected, remember, remembered
from turnwright.journal.transact.rows import SessionRow, ThreadRow, clock, lock_session, write_session

KEPT = {
    EntryErased.TYPE: "it says what was erased",
    ThreadOpened.TYPE: "the thread cannot go on without its agent",
    ThreadForked.TYPE: "the thread cannot go on without its agent",
}


@dataclass(frozen=True, slots=True)
class _Content:
    """What is stored of an entry; `stored` None: erased already."""

    type: str
    version: int
    salt: bytes
    stored: bytes | None
    blob: str | None


def erase_entry(key: ThreadKey, command: EraseEntry) -> Script[Receipt]:
    """Erase an entry's content; one that is erased already stays as it is."""
    row = yield from lock_thread(key)
    session = None if row is None else (yield from lock_session(key.session_key))
    if row is None or session is None or session.deleted:
        return rejected(command, Rejection("unknown_thread", f"there is no thread {key.canonical}"))
    known = yield from remembered(row.id, command)
    if known is not None:
        return known
    found = yield from first("find_payload", row.id, command.seq)
    if found is None:
        return rejected(command, Rejection("unknown_entry", f"the thread has no entry {command.seq}"))
    content = _content(found)
    if content.type in KEPT:
        return rejected(command, Rejection("not_erasable", f"{content.type} is kept: {KEPT[content.type]}"))
    seq = row.seq
    if content.stored is not None:
        yield from _erase(key, row, command, content, content.stored)
        seq = yield from _say_so(row, session, command)
    receipt = Receipt(command.request_id, "accepted", seq=seq)
    yield from remember(row.id, command, receipt)
    return receipt


def erase_command(key: ThreadKey, command: EraseEntry) -> Script[Done]:
    """Erase an entry's content, as one of the commands a journal carries out.

    Raises:
        Undo: the command is rejected.
    """
    receipt = yield from erase_entry(key, storable(command))
    if receipt.status == "rejected":
        raise Undo(receipt)
    return Done(receipt)


def _content(found: Row) -> _Content:
    kind, version, salt, body, sha, blob = found
    stored = blob if body is None else body
    return _Content(kind, version, bytes(salt), None if stored is None else bytes(stored), sha)


def _erase(key: ThreadKey, row: ThreadRow, command: EraseEntry, content: _Content, stored: bytes) -> Script[None]:
    yield from first("erase_payload", row.id, command.seq, body_digest(content.salt, stored))
    if content.blob is not None:
        yield from first("delete_unused_blob", row.session_id, content.blob)
    for sha in sorted(_media(key, command.seq, content, stored)):
        yield from first("delete_unused_media", row.session_id, sha)
    yield from first("delete_checkpoints", row.id)


def _media(key: ThreadKey, seq: int, content: _Content, stored: bytes) -> Iterable[str]:
    try:
        payload = decode(content.type, content.version, stored, required=False, thread=key.canonical, seq=seq)
    except JournalError:
        return ()  # what nobody can read may be erased too
    return set(media_of(payload))


def _say_so(row: ThreadRow, session: SessionRow, command: EraseEntry) -> Script[int]:
    payload = EntryErased(erased_seq=command.seq, principal=command.principal, reason=command.reason)
    drafts = [Draft(entry_ids.command(command.request_id, 0), payload)]
    now_us = yield from clock()
    control = fold_drafts(row.control, drafts, now_us)
    [entry] = yield from append_drafts(row, drafts, control, now_us, runnable=row.runnable)
    if row.key.is_session_log:
        yield from write_session(session.id, evolve_session(session.control, entry), entry.at_us)
    return entry.seq
