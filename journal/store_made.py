"""What was made of a thread, erased with what it was made of.

Rule: a title or summary may hold any word that was said up to the entry it was made through, so whoever erases such an
entry erases it too. Repeating the erasure finishes one that was broken off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import EraseEntry
from turnwright.journal.entries import Entry, SessionSummarised, SessionTitled

if TYPE_CHECKING:
    from turnwright.journal.ids import ThreadKey
    from turnwright.journal.store import Journal


async def erase_made_of(journal: Journal, key: ThreadKey, command: EraseEntry) -> None:
    """Erase the titles and summaries in the session's log that may hold words of the entry that was erased."""
    log, after_seq = key.session_key.log, 0
    while page := await journal.entries(log, after_seq):
        after_seq = page[-1].seq
        for entry in page:
            if _is_made_of(entry, key, command.seq):
                request_id = f"made-{digest_of([command.request_id, key.canonical, entry.seq])[:32]}"
                erase = EraseEntry(
                    request_id=request_id, principal=command.principal, reason=command.reason, seq=entry.seq
                )
                await journal.execute(log, erase)


def _is_made_of(entry: Entry, key: ThreadKey, seq: int) -> bool:
    payload = entry.payload
    made_of = payload.made_of if isinstance(payload, SessionTitled | SessionSummarised) else None
    return (
        made_of is not None
        and (made_of.agent, made_of.thread) == (key.agent, key.thread)
        and seq <= made_of.through_seq
    )
