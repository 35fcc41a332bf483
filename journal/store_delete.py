"""Deleting sessions for good.

Rule: `delete_session` may be repeated with any request id until it says that all is gone; what a crash left over is
also erased by the workers (`finish_deletions`). Each piece is a transaction of its own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import DeleteSession, MakeWhole, Receipt
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey
from turnwright.journal.script import first
from turnwright.journal.store import Journal
from turnwright.journal.transact.deleting import (
    NEEDED,
    Tombstone,
    erase_some,
    find_tombstone,
    forks_elsewhere,
    open_tombstones,
)
from turnwright.journal.transact.snapshotting import COUNTED_AS, TOPIC, count_snapshots
from turnwright.journal.transcripts import TRANSCRIPTS

SESSIONS_FINISHED_MAX = 100
THREADS_ENDED_MAX = 100
FORKS_AT_ONCE_MAX = 100
WHOLE_TRIES = 3
JOURNAL = "journal"
SNAPSHOTS = "snapshots"
SNAPSHOTS_WAIT_S = 2.0
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Deleted:
    """What became of a deletion: its receipt, and by store how much of what was erased.

    `snapshots`, where there were any: `deleted`, and `pending` as long as no worker reached the place they are in.
    `transcripts`: how many `files`, once whoever writes them deleted them.
    """

    receipt: Receipt
    stores: dict[str, dict[str, int]] = field(default_factory=dict)


async def delete_session(journal: Journal, key: SessionKey, command: DeleteSession) -> Deleted:
    """Delete a session: refused as `busy` while a turn of it is active or queued. Those that are cancelled end now.

    Refused as `needed_by_forks` while forks in other sessions need its entries, unless they are to be made whole first.

    Raises:
        StoreUnavailable: try again, with the same or another request id; it goes on where it stopped.
    """
    receipt = await journal.execute(key, command)
    if receipt.code == "busy" and await _end_cancelled(journal, key):
        receipt = await journal.execute(key, command)
    for n in range(WHOLE_TRIES):
        if receipt.code != NEEDED or not command.make_forks_whole:
            break
        await _make_forks_whole(journal, key, command, n)
        receipt = await journal.execute(key, command)
    if receipt.status == "rejected":
        return Deleted(receipt)
    row = await journal.driver.read(partial(first, "find_session", key.canonical))
    while row is not None and not await journal.driver.write(partial(erase_some, row[0])):
        pass
    await journal.driver.scrub()
    pending = 0 if row is None else await _wait_for_snapshots(journal, row[0])
    tombstone = await read_tombstone(journal, key)
    counts = {} if tombstone is None else dict(tombstone.counts)
    deleted = counts.pop(COUNTED_AS, 0)
    outside = {SNAPSHOTS: {"deleted": deleted, "pending": pending}} if deleted or pending else {}
    if files := counts.pop(TRANSCRIPTS, 0):
        outside[TRANSCRIPTS] = {"files": files}
    return Deleted(receipt, {JOURNAL: counts, **outside})


async def _make_forks_whole(journal: Journal, key: SessionKey, command: DeleteSession, attempt: int) -> None:
    """Have each fork elsewhere keep what it begins with; one that another request makes whole is left to it."""
    request_id = f"whole-{digest_of([key.canonical, command.request_id, attempt])[:32]}"
    while forks := await journal.driver.read(partial(forks_elsewhere, key, FORKS_AT_ONCE_MAX)):
        for fork in forks:
            one = MakeWhole(request_id=request_id, principal=command.principal, reason=command.reason)
            receipt = await journal.execute(fork, one)
            refused = receipt.status == "rejected" and receipt.code != "whole_already"
            if refused or receipt.duplicate:  # an erasure has undone what that request did
                return


async def _wait_for_snapshots(journal: Journal, session_id: int) -> int:
    """Of how many states something is still outside, where only workers can delete; they are waited for a moment."""
    count = partial(count_snapshots, session_id)
    pending = await journal.driver.read(count)
    if not pending:
        return 0
    until_s = time.monotonic() + SNAPSHOTS_WAIT_S
    async with journal.driver.watch({TOPIC}) as watching:
        while (pending := await journal.driver.read(count)) and time.monotonic() < until_s:
            await watching.changed(LOOK_S)
    return pending


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
