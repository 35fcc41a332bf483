"""The stored content of an entry, and how it is taken away.

Rule: the row stays. Its salt gives way to the salted digest of what stood there, which is what the chain covers and
which, without the salt, tells nothing; whoever erases says in an entry that it was done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

from turnwright.journal.codec import body_digest
from turnwright.journal.entries import Entry, Payload
from turnwright.journal.errors import JournalError
from turnwright.journal.messages import Frozen
from turnwright.journal.script import Script, first, rows
from turnwright.journal.sealing.values import Unopened
from turnwright.journal.transact.reading import PAGE_BYTES_MAX, PAGE_ENTRIES_MAX, read_page
from turnwright.journal.transact.rows import Place, ThreadRow

WORDS = ("title", "summary", "message", "reason", "cancel_reason", "effects_unknown")
F = TypeVar("F", bound=Frozen)


@dataclass(frozen=True, slots=True)
class Content:
    """What is stored of an entry; `stored` None: erased already."""

    type: str
    version: int
    salt: bytes
    stored: bytes | None
    blob: str | None


def find_content(row: ThreadRow, seq: int) -> Script[Content | None]:
    """What is stored of the entry; None: there is none of that number."""
    found = yield from first("find_payload", row.id, seq)
    if found is None:
        return None
    kind, version, salt, body, sha, blob = found
    stored = blob if body is None else body
    return Content(kind, version, bytes(salt), stored, sha)


def find_readable(row: ThreadRow, seq: int) -> Script[Entry | None]:
    """The entry while it is there; what nobody can read may be erased too."""
    try:
        [entry] = yield from read_page(row.key, Place(row.id, row.seq, row.total_bytes), seq - 1, seq)
    except JournalError:
        return None
    return entry


def erase_content(row: ThreadRow, seq: int, content: Content, stored: bytes) -> Script[None]:
    """Take the content away, and what of the thread's state was kept with it."""
    # Of what cannot be opened the digest stands in the salt's place already.
    digest = content.salt if isinstance(stored, Unopened) else body_digest(content.salt, stored)
    yield from first("erase_payload", row.id, seq, digest)
    yield from first("erase_text", row.id, seq)
    if content.blob is not None:
        yield from first("delete_unused_blob", row.session_id, content.blob)
    yield from forget_states(row)


def delete_unused_media(session_id: int, sha256s: Iterable[str]) -> Script[None]:
    """Delete the bytes of files, but for those that an entry of the session is kept in or names.

    All of the session is read, once and not by the store itself: what stands there may be sealed.
    """
    unused, after = set(sha256s), 0
    while unused:
        end = yield from first("session_page_end", session_id, after, PAGE_ENTRIES_MAX, PAGE_BYTES_MAX)
        if end is None or end[0] is None:
            break
        for row in (yield from rows("read_session", session_id, after, end[0], PAGE_ENTRIES_MAX)):
            body, blob, blob_body = row[13:16]
            stored = bytes(blob_body or b"" if body is None else body)
            unused -= {sha for sha in unused if sha == blob or sha.encode() in stored}
        after = end[0]
    for sha in sorted(unused):
        yield from first("delete_blob", session_id, sha)


def forget_states(row: ThreadRow) -> Script[None]:
    """Delete what is kept of the thread's state: it may hold what was erased."""
    yield from first("delete_checkpoints", row.id)
    yield from first("forget_snapshots", row.id)


def forget(value: F, texts: Collection[str]) -> F:
    """The value without these texts where somebody's words are kept, also in what it holds."""
    update: dict[str, object] = {}
    for name, field in type(value).model_fields.items():
        held = getattr(value, name)
        if isinstance(held, Frozen):
            update[name] = forget(held, texts)
        elif name in WORDS and held in texts:
            update[name] = "" if field.is_required() else field.get_default()
    return value.model_copy(update=update)


def texts_of(payload: Payload) -> frozenset[str]:
    """What somebody wrote in it, as far as rows beside the entries keep it."""
    said = (getattr(payload, name, None) for name in WORDS)
    return frozenset(text for text in said if isinstance(text, str) and text)
