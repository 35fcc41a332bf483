"""Drafts become entries: numbered, timed, chained, and written with the head in one step.

Rule: time never runs backwards in a thread, whatever the clock does. Large bodies go to blobs in the same
transaction.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from turnwright.journal.codec import Link, body_digest, chain_hash
from turnwright.journal.control import REDUCER_VERSION, ThreadControl
from turnwright.journal.entries import Draft, Entry
from turnwright.journal.errors import InvalidInput, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Append, EntryRow, Head, Note, Script, Touch, append, first
from turnwright.journal.transact.indexing import text_rows
from turnwright.journal.transact.reading import missing_blobs
from turnwright.journal.transact.rows import ThreadRow, dump, topic
from turnwright.journal.turn_status import TurnStatus

BLOB_BYTES_MIN = 64 * 1024
SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Sealed:
    """Entries ready to be written, and what they add up to."""

    entries: tuple[Entry, ...]
    rows: tuple[EntryRow, ...]
    blobs: dict[str, bytes]
    hash: bytes
    at_us: int
    added_bytes: int


@dataclass(frozen=True, slots=True)
class Appended:
    """What was appended to a thread in one transaction, its control then, and the turns whose status that changed.

    `worked_us`: for how long operations had run that have ended with it, so that none runs any more, or others.
    """

    key: ThreadKey
    entries: tuple[Entry, ...]
    control: ThreadControl
    turns: Mapping[str, TurnStatus]
    worked_us: int = 0


def append_drafts(
    row: ThreadRow,
    drafts: list[Draft],
    control: ThreadControl,
    now_us: int,
    *,
    runnable: bool,
    blobs: Mapping[str, bytes] | None = None,
    turns: Mapping[str, TurnStatus] | None = None,
) -> Script[tuple[Entry, ...]]:
    """Write the drafts behind the locked head.

    Args:
        row: the head.
        drafts: what to write.
        control: the fold that includes the drafts.
        now_us: the store's time.
        runnable: whether the thread has work then.
        blobs: bytes of media the drafts refer to, by their SHA-256.
        turns: the turns whose status they change, as they are with that.
    """
    if not drafts:
        return ()
    sealed = seal(row, drafts, max(now_us, row.at_us))
    yield from _store_blobs(row, {**(blobs or {}), **sealed.blobs})
    active = control.active
    head = Head(
        seq=row.seq + len(drafts),
        hash=sealed.hash,
        at_us=sealed.at_us,
        epoch=control.epoch,
        control=dump(control),
        reducer_version=REDUCER_VERSION,
        added_bytes=sealed.added_bytes,
        queued=control.queued,
        active_turn=None if active is None else active.turn_id,
        runnable=int(runnable),
    )
    texts = text_rows(row.key, row.session_id, sealed.entries)
    position = yield from append(Append(row.session_id, row.id, row.seq, head, sealed.rows, texts))
    if position is None:
        raise StoreUnavailable(f"the head of thread {row.key.canonical} moved under its lock; try again")
    yield Touch(frozenset({topic(row.key), topic(row.key.session_key)}))
    stored = tuple(
        entry.stored(position + n, sealed.rows[n].prev_hash, sealed.rows[n].hash)
        for n, entry in enumerate(sealed.entries)
    )
    worked_us = max(0, control.used.wall_us - row.control.used.wall_us)
    yield Note(Appended(row.key, stored, control, turns or {}, worked_us))
    return stored


def check_media(key: SessionKey, session_id: int, said: object, blobs: Mapping[str, bytes]) -> Script[None]:
    """Let through only media whose bytes are in `blobs` or with the session already.

    A reference to bytes that nobody ever stored would end every model request of the thread from then on.

    Raises:
        InvalidInput: the bytes of some are nowhere.
    """
    missing = yield from missing_blobs(session_id, set(media_of(said)) - blobs.keys())
    if missing:
        raise InvalidInput(
            f"session {key.canonical} has no bytes stored as blob {min(missing)!r:.80}; "
            "give a file by URL, or from a tool as its bytes (Attachment)"
        )


def _store_blobs(row: ThreadRow, blobs: Mapping[str, bytes]) -> Script[None]:
    """Keep bytes with the session under their SHA-256; the same content is kept once.

    In one order: threads of a session that keep the same content at once would else wait for each other.
    """
    for sha, body in sorted(blobs.items()):
        yield from first("insert_blob", row.session_id, sha, len(body), body)


def seal(row: ThreadRow, drafts: list[Draft], at_us: int) -> Sealed:
    """Number, time and chain the drafts."""
    prev_hash, added = row.hash, 0
    entries: list[Entry] = []
    rows: list[EntryRow] = []
    blobs: dict[str, bytes] = {}
    for n, draft in enumerate(drafts, start=1):
        entry, body, salt = draft.at(row.seq + n, at_us), draft.payload.body(), secrets.token_bytes(SALT_BYTES)
        kind, version = draft.payload.TYPE, draft.payload.VERSION
        link = Link(
            entry.seq, kind, version, entry.entry_id, entry.turn_id, entry.run, entry.step, entry.epoch,
            draft.payload.REQUIRED, body_digest(salt, body),
        )  # fmt: skip
        hash_ = chain_hash(prev_hash, link)
        large = len(body) > BLOB_BYTES_MIN
        sha = hashlib.sha256(body).hexdigest() if large else None
        if sha is not None:
            blobs[sha] = body
        rows.append(_row(entry, version, (prev_hash, hash_, salt), None if large else body, sha))
        entries.append(entry)
        prev_hash, added = hash_, added + len(body)
    return Sealed(tuple(entries), tuple(rows), blobs, prev_hash, at_us, added)


def _row(
    entry: Entry, version: int, hashes: tuple[bytes, bytes, bytes], body: bytes | None, blob: str | None
) -> EntryRow:
    return EntryRow(
        entry.seq, entry.entry_id, entry.type, version, entry.at_us, entry.turn_id, entry.run, entry.step,
        entry.epoch, int(entry.payload.REQUIRED), *hashes, body, blob,
    )  # fmt: skip
