"""The loop that finds threads with work that nobody carries on, and has somebody look at them.

Rule: it decides nothing and remembers nothing that matters. One worker leads; while the leader's beat lapses (a
frozen process keeps its lock) every other worker sweeps too, and two sweepers at once do no harm. A lost
wake-up, a dead worker, a wedged workflow and a Temporal that forgot everything are all the same to it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog

from turnwright.journal.driver import Driver
from turnwright.journal.durations import SECOND_US
from turnwright.journal.lead import Lead
from turnwright.journal.stalls import CLOCK_SET_BACK_US
from turnwright.journal.store_delete import finish_deletions
from turnwright.journal.store_import import discard_abandoned
from turnwright.journal.store_search import index_pieces
from turnwright.journal.transact.deltas import prune_deltas
from turnwright.journal.transact.sweeping import (
    Glance,
    find_cancelled,
    find_expired,
    find_stalled,
    forget_hints,
    prune_hints,
)
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.actor import Looper
from turnwright.worker.rousing import Rouser
from turnwright.worker.wakes import Wakes

LEAD = "sweeper"
WATCH_INTERVAL_S = 0.25
PAGE_THREADS_MAX = 100
PAGE_SESSIONS_MAX = 500
SWEEP_S_MAX = 1.0
HINTS_PRUNED_MAX = 10_000
UPKEEP_INTERVAL_S = 30.0
PIECES_ERASED_MAX = 20
PIECES_INDEXED_MAX = 10
LEASE_INTERVALS = 3
LEASE_S_MIN = 2.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """How often to sweep, and after what silence a turn counts as stalled."""

    interval_s: float = 1.0
    stall_s: float = 3.0

    @property
    def lease_s(self) -> float:
        """Without a beat for so long the leader counts as frozen."""
        return max(LEASE_S_MIN, LEASE_INTERVALS * self.interval_s)


class Sweeper(Looper):
    """Sweeps while it leads, or while the leader is frozen.

    Args:
        driver: the journal's store.
        rouser: brings threads back.
        terms: gives how the journal judges who is gone, with this process's presence of the moment.
        settings: how to sweep.
    """

    def __init__(self, driver: Driver, rouser: Rouser, terms: Callable[[], Terms], settings: SweepSettings) -> None:
        super().__init__("sweeper", min(WATCH_INTERVAL_S, settings.interval_s))
        self.lead = Lead(driver, LEAD, settings.lease_s)
        self._driver = driver
        self._wakes = Wakes(driver, rouser)
        self._terms = terms
        self._settings = settings
        self._alive: frozenset[str] | None = None
        self._urgent_after: int | None = None
        self._next_sweep_s = 0.0
        self._next_upkeep_s = 0.0
        self._indexed_after = 0
        self._after_thread = 0
        self._after_session = 0
        self._store_time_us = 0

    async def end(self) -> None:
        """Let another lead."""
        await self.lead.release()

    async def round(self) -> None:
        """See who died; sweep when it is time, or at once when somebody did."""
        role = await self.lead.role()
        if role == "follower":
            self._alive = None
            return
        if role == "new_leader":
            log.info("sweeper_leads")
            await self._driver.write(partial(prune_hints, HINTS_PRUNED_MAX))
            self._urgent_after = 0  # the leader before may have died, and its worker's threads wait
        await self._see_deaths()
        if self._urgent_after is not None:
            self._urgent_after = await self._sweep_pages(self._urgent_after, urgent=True) or None
        await self._wakes.look_again(self.lead.keep)
        if time.monotonic() >= self._next_sweep_s:
            began_s = time.monotonic()
            await self._sweep()
            # What is left of a long sweep goes on in the next round, after a look at who died meanwhile.
            self._next_sweep_s = 0 if self._after_thread else began_s + self._settings.interval_s
        if time.monotonic() >= self._next_upkeep_s:
            await self._keep_up()

    async def _keep_up(self) -> None:
        """Erase what a deletion or an import left behind, and words nobody waits for; index what is not found yet.

        Much of it is done in many rounds.
        """
        await self._driver.write(prune_deltas)
        erased = await finish_deletions(self._driver, PIECES_ERASED_MAX)
        if erased:
            log.info("deletions_finished", pieces=erased)
        discarded = await discard_abandoned(self._driver, PIECES_ERASED_MAX)
        if discarded:
            log.info("imports_discarded", pieces=discarded)
        indexed, self._indexed_after = await index_pieces(self._driver, self._indexed_after, PIECES_INDEXED_MAX)
        if indexed:
            log.info("texts_indexed", pieces=indexed)
        more = max(erased, discarded) >= PIECES_ERASED_MAX or indexed >= PIECES_INDEXED_MAX
        self._next_upkeep_s = 0.0 if more else time.monotonic() + UPKEEP_INTERVAL_S

    async def _see_deaths(self) -> None:
        found = await self._driver.presences(info=False)
        alive = frozenset(p.presence_id for p in found if p.liveness.state == "alive")
        if self._alive is not None and (gone := self._alive - alive):
            log.info("workers_gone", presences=sorted(gone))
            self._urgent_after = 0  # their threads are due at once, whatever the hints say
        self._alive = alive

    async def _see_time(self, now_us: int) -> None:
        """When the store's clock was set back, what was to be looked at next is too far away."""
        behind_us = self._store_time_us - now_us
        self._store_time_us = now_us
        if behind_us > CLOCK_SET_BACK_US:
            log.warning("store_clock_set_back", seconds=round(behind_us / SECOND_US))
            await self._driver.write(forget_hints)

    async def _sweep(self) -> None:
        await self._wakes.give(await self._driver.read(partial(find_expired, PAGE_THREADS_MAX)))
        await self._sweep_cancelled()
        self._after_thread = await self._sweep_pages(self._after_thread, urgent=False)

    async def _sweep_cancelled(self) -> None:
        """A page of sessions each time, going round."""
        look = partial(find_cancelled, self._after_session, PAGE_SESSIONS_MAX, PAGE_THREADS_MAX)
        page = await self._driver.read(look)
        self._after_session = page.after or 0
        await self._wakes.give(page)

    async def _sweep_pages(self, after: int, *, urgent: bool) -> int:
        """Pages of threads for about a second; returns where to go on next time, 0 at the end."""
        until_s = time.monotonic() + SWEEP_S_MAX
        glance = Glance(int(self._settings.stall_s * SECOND_US), PAGE_THREADS_MAX, urgent=urgent)
        while True:
            page = await self._driver.read(partial(find_stalled, after, glance, self._terms()))
            await self._see_time(page.now_us)
            await self._wakes.give(page)
            after = page.after or 0
            if after == 0 or self._wakes.away:
                return 0
            if time.monotonic() > until_s:
                return after
            await self.lead.keep()
