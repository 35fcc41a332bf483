"""Erasing the content of an entry, so that the chain still verifies.

Rule: an erased payload keeps its row. Its salt gives way to the salted digest of what stood there, which is what
the chain covers and which, without the salt, tells nothing; `entry.erased` says who did it and why. What had
been folded from the content is folded no more, so checkpoints of the thread go with it.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.codec import body_digest
from turnwright.journal.entries import Draft, EntryErased
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.rows import clock, lock_thread


def erase_entry(key: ThreadKey, seq: int, request_id: str, principal: str, reason: str | None) -> Script[None]:
    """Erase an entry's content; one that is erased already stays as it is.

    Raises:
        InvalidInput: there is no such entry.
    """
    row = yield from lock_thread(key)
    found = None if row is None else (yield from first("find_payload", row.id, seq))
    if row is None or found is None:
        raise InvalidInput(f"thread {key.canonical} has no entry {seq}")
    salt, body, sha, blob = found
    stored = blob if body is None else body
    if stored is None:
        return
    yield from first("erase_payload", row.id, seq, body_digest(bytes(salt), bytes(stored)))
    if sha is not None:
        yield from first("delete_unused_blob", row.session_id, sha)
    yield from first("delete_checkpoints", row.id)
    erased = EntryErased(erased_seq=seq, principal=principal, reason=reason)
    drafts = [Draft(entry_ids.command(request_id, 0), erased)]
    now_us = yield from clock()
    control = fold_drafts(row.control, drafts, now_us)
    yield from append_drafts(row, drafts, control, now_us, runnable=row.runnable)
