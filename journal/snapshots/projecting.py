"""Bringing states from the journal to where snapshots are kept.

Rule: the journal is followed, never asked to wait: how far a thread's state was brought stands in the journal beside
it, and is moved after the snapshot was kept. Who dies between does it once more. A snapshot that says it is of an entry
the journal does not have is of before a backup was restored, and gives way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

import structlog

from turnwright.journal.agent_state import AgentState
from turnwright.journal.errors import UNREADABLE, SnapshotGone, SnapshotsTaken, StoreCorrupt, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.snapshot import Offer, Snapshot, SnapshotKey
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import read_tombstone
from turnwright.journal.store_verify import threads_of
from turnwright.journal.transact.bases import load_state
from turnwright.journal.transact.snapshotting import (
    Doomed,
    DueThread,
    begin_snapshot,
    finish_doomed,
    forget_target,
    save_snapshot,
)

ANSWER_S_MAX = 60.0
Finding = Literal["same", "behind", "missing", "ahead", "differs", "unreadable", "stray"]
WRONG: tuple[Finding, ...] = ("missing", "ahead", "differs", "unreadable", "stray")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Proof:
    """How a snapshot compares with the journal. `behind` is no fault: it is true for an earlier entry."""

    key: SnapshotKey
    finding: Finding
    detail: str = ""


class Projection:
    """A journal's states at one place."""

    def __init__(self, journal: Journal, store: SnapshotStore) -> None:
        self.target = store.name
        self._journal = journal
        self._store = store

    async def enter(self, *, claim: bool = True) -> None:
        """See that the place is this journal's; with `claim` it is from now on, if it was nobody's.

        Raises:
            SnapshotsTaken: it is another journal's, and nothing of this one is to be written there.
            StoreUnavailable: the place or the journal does not answer.
        """
        mine = await self._journal.journal_id()
        async with _answered():
            owner = await self._store.owner(mine if claim else "")
        if owner not in ("", mine):
            raise SnapshotsTaken(self.target, owner)

    async def project(self, due: DueThread) -> bool:
        """Bring a thread's state there; False: it was deleted, or something was erased in it meanwhile.

        Raises:
            SnapshotGone: its session was deleted there, though not here.
            StoreCorrupt: what is there, or the thread, cannot be read.
            StoreUnavailable: the place or the journal does not answer.
        """
        driver = self._journal.driver
        begun = due if due.reached is not None else await driver.write(partial(begin_snapshot, self.target, due.key))
        if begun is None:
            return False
        state = await self._state(due.key)
        await self._put(SnapshotKey(due.key), state.as_of_seq, await asyncio.to_thread(Offer.of_state, state))
        return await driver.write(partial(save_snapshot, self.target, begun, state.as_of_seq))

    async def delete(self, doomed: Doomed) -> None:
        """Take away what is there of a deleted session."""
        async with _answered():
            await self._store.delete_session(doomed.session, tuple(doomed.threads.values()))
        await self._journal.driver.write(partial(finish_doomed, self.target, doomed))

    async def rebuild(self, session: SessionKey | None = None) -> AsyncIterator[Proof]:
        """Write each thread's state anew, or those of a session, whatever is there; what cannot be read is left.

        Of all sessions, also take away what is there of those that were deleted.

        Raises:
            InvalidInput: there is no such session.
            SnapshotsTaken: the place is another journal's.
        """
        await self.enter()
        async for key in threads_of(self._journal, session):
            due = await self._journal.driver.write(partial(begin_snapshot, self.target, key))
            if due is None:
                continue
            try:
                await self._state(key)
            except UNREADABLE as error:
                yield Proof(SnapshotKey(key), "unreadable", str(error))
                continue
            proof = await self._prove(SnapshotKey(key))
            if proof is not None and proof.finding in WRONG:
                await self._store.remove(SnapshotKey(key))
            try:
                await self.project(due)
            except SnapshotGone:
                await self._store.revive_session(key.session_key)  # the journal was put back to before that
                await self.project(due)
            yield Proof(SnapshotKey(key), "same")
        if session is None:
            await self._delete_strays()

    async def forget(self) -> int:
        """Forget what was brought there, of how many threads; what is there stays, and deletions wait for it no more.

        The place is not asked.
        """
        forgotten = 0
        while some := await self._journal.driver.write(partial(forget_target, self.target)):
            forgotten += some
        return forgotten

    async def verify(self, session: SessionKey | None = None) -> AsyncIterator[Proof]:
        """Compare each thread's snapshot with the journal; and, of all sessions, find what is of no thread.

        Raises:
            InvalidInput: there is no such session.
            SnapshotsTaken: the place is another journal's.
        """
        await self.enter(claim=False)
        async for key in threads_of(self._journal, session):
            proof = await self._prove(SnapshotKey(key))
            if proof is not None:
                yield proof
        if session is None:
            async for found in self._store.every_key():
                if await self._journal.thread(found.thread) is None:
                    yield Proof(found, "stray", "the journal has no such thread")

    async def _delete_strays(self) -> None:
        """What the journal knows nothing of is left: it may be another's."""
        async for found in self._store.every_key():
            session = found.thread.session_key
            if await read_tombstone(self._journal, session) is not None:
                await self._store.delete_session(session)

    async def _prove(self, key: SnapshotKey) -> Proof | None:
        try:
            found = await self._store.load(key)
            if found is not None:
                return await self._compare(found)
        except StoreCorrupt as error:
            return Proof(key, "unreadable", error.what)
        except UNREADABLE as error:
            return Proof(key, "unreadable", str(error))
        row = await self._journal.thread(key.thread)
        if row is None:
            return None
        return Proof(key, "behind" if row.runnable else "missing", f"the thread is at entry {row.seq}")

    async def _compare(self, found: Snapshot) -> Proof:
        """The same entry's state is asked of the journal, so that a thread that goes on differs from nothing."""
        row = await self._journal.thread(found.key.thread)
        head = 0 if row is None else row.seq
        if found.as_of_seq > head:
            return Proof(found.key, "ahead", f"it is of entry {found.as_of_seq}, the thread is at {head}")
        state = await self._state(found.key.thread, found.as_of_seq)
        if (await asyncio.to_thread(Offer.of_state, state)).payload != found.payload:
            return Proof(found.key, "differs", f"it is not what the journal says of entry {found.as_of_seq}")
        return Proof(found.key, "same" if found.as_of_seq == head else "behind")

    async def _state(self, key: ThreadKey, at_seq: int | None = None) -> AgentState:
        """Past the states that are kept for turns: one that rests would push one out that is in use."""
        return await self._journal.driver.read(lambda: load_state(key, None, at_seq))

    async def _put(self, key: SnapshotKey, as_of_seq: int, offer: Offer) -> None:
        async with _answered():
            kept = await self._store.put(key, offer)
            if kept.written or kept.as_of_seq <= as_of_seq:
                return
            row = await self._journal.thread(key.thread)
            if row is None or kept.as_of_seq <= row.seq:
                return  # another worker was here with a newer one
            log.warning("snapshot_ahead", thread=key.thread.canonical, there=kept.as_of_seq, journal=row.seq)
            await self._store.remove(key, kept.version)
            await self._store.put(key, offer)


@asynccontextmanager
async def _answered() -> AsyncIterator[None]:
    """What takes too long is as good as away."""
    try:
        async with asyncio.timeout(ANSWER_S_MAX):
            yield
    except TimeoutError as error:
        raise StoreUnavailable(f"the place of the snapshots has not answered for {ANSWER_S_MAX:g} s") from error
