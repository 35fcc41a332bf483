"""The loop that brings states of threads to where snapshots are kept outside the journal.

Rule: it holds up nothing. It follows what is committed; one worker leads, others only while that one is frozen, and
several at once do no harm. A place that is away is tried again less and less often, and what it missed is found by
looking, not remembered. One state that cannot be brought there keeps no other waiting. A place that is another
journal's gets nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial

import structlog

from turnwright.journal.driver import Subscription
from turnwright.journal.errors import UNREADABLE, SnapshotGone, StoreError, StoreUnavailable
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.projecting import Projection
from turnwright.journal.store import Journal
from turnwright.journal.transact.snapshotting import Doomed, DueThread, adopt_place, find_doomed, find_due_snapshots
from turnwright.worker.leading import LeadingLooper

LEASE_S = 6.0
PAUSE_S = 0.2
LOOK_S = 1.0
LOOK_ANYWAY_S = 30.0
REST_PER_LOOK = 4
REST_S_MAX = 5.0
THREADS_LOOKED_MAX = 1_000
PAGES_LOOKED_MAX = 20
TOGETHER_MAX = 4
REFUSED_MAX = 10_000

log = structlog.get_logger(__name__)


class Snapshots(LeadingLooper):
    """Brings states to the store while it leads, or while the leader is frozen."""

    def __init__(self, journal: Journal, store: SnapshotStore) -> None:
        super().__init__("snapshots", PAUSE_S, journal.driver, LEASE_S, None, LOOK_S)
        self._store = store
        self._projection = Projection(journal, store)
        self._started = False
        self._behind = True
        self._after = 0
        self._looked_s = 0.0
        self._see_place_s = 0.0
        self._skipped = False
        self._refused: dict[int, int] = {}
        self._stuck: set[int] = set()

    async def end(self) -> None:
        """Let another lead."""
        await super().end()
        self._started = False
        with contextlib.suppress(StoreError):
            await self._store.stop()

    def follow(self) -> None:
        """Whoever takes over looks at everything."""
        self._behind = True

    async def work(self, watching: Subscription) -> None:
        """Wait for a commit, then bring what is due; much of it takes many rounds."""
        if not self._behind:
            changed = await watching.changed(LOOK_S)
            if not changed and time.monotonic() - self._looked_s < LOOK_ANYWAY_S:
                return
        self._behind = True  # until all was looked at; an error leaves it so
        try:
            await self._see_place()
            await self._delete()
            self._behind = not await self._look()
        except StoreUnavailable:
            self._started = False  # it may come back empty
            raise

    async def _see_place(self) -> None:
        """See whether all of it was lost there: then it is brought anew."""
        if self._started and time.monotonic() < self._see_place_s:
            return
        await self._store.start()
        await self._projection.enter()
        place_id, after = await self._store.place_id(), 0
        while after := await self._driver.write(partial(adopt_place, self._store.name, place_id, after)):
            await self.acts()
        self._started = True
        self._see_place_s = time.monotonic() + LOOK_ANYWAY_S

    async def _look(self) -> bool:
        """Bring what is due among the next pages of threads; whether all were looked at."""
        for _ in range(PAGES_LOOKED_MAX):
            began_s = time.monotonic()
            find = partial(find_due_snapshots, self._store.name, self._after, THREADS_LOOKED_MAX)
            page = await self._driver.read(find)
            rest_s = min(REST_PER_LOOK * (time.monotonic() - began_s), REST_S_MAX)
            self._after = page.after  # in any case: what is wrong with one page keeps no other waiting
            await self._bring(page.threads)
            if not page.after:
                skipped, self._skipped = self._skipped, False
                self._looked_s = time.monotonic()
                return not skipped
            await asyncio.sleep(rest_s)
            await self.acts()
        return False

    async def _bring(self, threads: tuple[DueThread, ...]) -> None:
        """Raises `StoreUnavailable` when the place takes nothing any more."""
        due = [thread for thread in threads if self._refused.get(thread.id) != thread.seq]
        for start in range(0, len(due), TOGETHER_MAX):
            chunk = due[start : start + TOGETHER_MAX]
            errors = await asyncio.gather(*(self._bring_one(thread) for thread in chunk))
            away = [error for error in errors if error is not None]
            self._skipped = self._skipped or bool(away)
            if len(away) == len(chunk):
                raise away[0]
            await self.acts()

    async def _bring_one(self, thread: DueThread) -> StoreUnavailable | None:
        """What is refused for good is said once, and not tried again before something changes."""
        try:
            await self._projection.project(thread)
        except StoreUnavailable as error:
            return error
        except (*UNREADABLE, StoreError, ValueError) as error:
            what = "snapshot_of_a_deleted_session" if isinstance(error, SnapshotGone) else "snapshot_refused"
            log.warning(what, thread=thread.key.canonical, error=str(error))
            if len(self._refused) >= REFUSED_MAX:
                self._refused.clear()
            self._refused[thread.id] = thread.seq
        return None

    async def _delete(self) -> None:
        """Take away what is there of sessions that were deleted; one that stays is tried again with the next look.

        Raises:
            StoreUnavailable: the place takes away nothing any more.
        """
        after = in_vain = 0
        while (doomed := await self._driver.read(partial(find_doomed, self._store.name, after))) is not None:
            try:
                await self._projection.delete(doomed)
            except (StoreError, ValueError) as error:
                in_vain += 1
                if isinstance(error, StoreUnavailable) and in_vain == TOGETHER_MAX:
                    raise
                self._say_stuck(doomed, error)
                after = doomed.session_id
            else:
                in_vain = 0
                self._stuck.discard(doomed.session_id)
                log.info("snapshots_deleted", session=doomed.session.canonical, threads=len(doomed.threads))
            await self.acts()

    def _say_stuck(self, doomed: Doomed, error: Exception) -> None:
        if doomed.session_id in self._stuck:
            return
        if len(self._stuck) >= REFUSED_MAX:
            self._stuck.clear()
        self._stuck.add(doomed.session_id)
        log.warning("snapshots_not_deleted", session=doomed.session.canonical, error=str(error))
