"""Deleting sessions for good.

Rule: `delete_session` may be repeated with any request id until it says that all is gone; what a crash left over is
also erased by the workers (`finish_deletions`). Each piece is a transaction of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from turnwright.journal.commands import DeleteSession, Receipt
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey
from turnwright.journal.script import first
from turnwright.journal.store import Journal
from turnwright.journal.transact.deleting import Tombstone, erase_some, find_tombstone, open_tombstones

SESSIONS_FINISHED_MAX = 100
THREADS_ENDED_MAX = 100
JOURNAL = "journal"


@dataclass(frozen=True, slots=True)
class Deleted:
    """What became of a deletion: its receipt, and by store how much of what was erased."""

    receipt: Receipt
    stores: dict[str, dict[str, int]] = field(default_factory=dict)


async def delete_session(journal: Journal, key: SessionKey, command: DeleteSession) -> Deleted:
    """Delete a session: refused as `busy` while a turn of it is active or queued. Those that are cancelled end now.

    Raises:
        StoreUnavailable: try again, with the same or another request id; it goes on where it stopped.
    """
    receipt = await journal.execute(key, command)
    if receipt.code == "busy" and await _end_cancelled(journal, key):
        receipt = await journal.execute(key, command)
    if receipt.status == "rejected":
        return Deleted(receipt)
    row = await journal.driver.read(partial(first, "find_session", key.canonical))
    while row is not None and not await journal.driver.write(partial(erase_some, row[0])):
        pass
    await journal.driver.scrub()
    tombstone = await read_tombstone(journal, key)
    return Deleted(receipt, {JOURNAL: {} if tombstone is None else tombstone.counts})


async def _end_cancelled(journal: Journal, key: SessionKey) -> bool:
    """End the turns that the session's cancel reached, whether it was cancelled at all.

    Its worker does so too, but a session that was just cancelled stayed busy until one came, and without Temporal for
    ever.
    """
    session = await journal.session(key)
    if session is None or not session.control.cancelled_seq:
        return False
    after = 0
    while page := await journal.busy_threads(key, after, THREADS_ENDED_MAX):
        for thread in page.values():
            while (await journal.dispatch(thread)).again:
                pass
        after = max(page)
    return True


async def read_tombstone(journal: Journal, key: SessionKey) -> Tombstone | None:
    """Who deleted the session and why; None when nobody did."""
    return await journal.driver.read(partial(find_tombstone, key))


async def finish_deletions(driver: Driver, pieces: int) -> int:
    """Erase what is left of deleted sessions, up to so many pieces; returns how many were erased."""
    after = done = 0
    while done < pieces:
        found = await driver.read(partial(open_tombstones, after, SESSIONS_FINISHED_MAX))
        for session_id in found:
            finished = False
            while done < pieces and not finished:
                finished = await driver.write(partial(erase_some, session_id))
                done += 1
        if len(found) < SESSIONS_FINISHED_MAX:
            break
        after = found[-1]
    if done:
        await driver.scrub()
    return done
