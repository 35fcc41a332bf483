"""Recovery by hand: what the sweeper does, for all threads at once, with the reasons.

Rule: it looks at everything anew, whatever hints say, and replaces at once what Temporal holds wedged. Doing it while
workers run, or twice, does no harm: it only has somebody look at a thread, who decides under the thread's lock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from turnwright.journal import store_admin
from turnwright.journal.durations import SECOND_US
from turnwright.journal.enlisted import take_in
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import finish_deletions
from turnwright.journal.transact.enlisting import find_inbox
from turnwright.journal.transact.sweeping import (
    Broken,
    Glance,
    Page,
    Suspect,
    find_cancelled,
    find_expired,
    find_stalled,
    find_unreadable,
)
from turnwright.worker.rousing import Condition, EngineAway, Step, TemporalRouser

PAGE_THREADS_MAX = 100
PAGE_SESSIONS_MAX = 500
EXPIRED_THREADS_MAX = 10_000
PIECES_ERASED_MAX = 1_000
_REASONS = {
    "due": "something is to be recorded, as that its worker is gone",
    "stalled": "nobody carries it on",
    "cancelled": "its session was cancelled and its turns are not yet",
    "expired": "the time of a question is up",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A thread that nobody carries on. `why`: what its turn waits for; `temporal`: its workflows, if Temporal says."""

    suspect: Suspect
    reason: str
    why: str
    temporal: dict[str, Condition] | None


class Recovery:
    """One recovery of a journal.

    Args:
        journal: the journal.
        rouser: brings threads back; None, as where Temporal cannot be reached, only looks.
        stall_s: a turn that was appended to within this time is left alone.
    """

    def __init__(self, journal: Journal, rouser: TemporalRouser | None, stall_s: float) -> None:
        self._journal = journal
        self._rouser = rouser
        self._stall_us = int(stall_s * SECOND_US)

    async def find(self) -> AsyncIterator[Case | Broken]:
        """Each thread to be brought back, once, and those that cannot be read."""
        seen: set[int] = set()
        async for page in self._pages():
            looked_at: tuple[Suspect | Broken, ...] = (*page.broken, *page.suspects)
            for found in looked_at:
                if found.thread_id not in seen:
                    seen.add(found.thread_id)
                    yield await self._case(found) if isinstance(found, Suspect) else found

    async def recover(self, case: Case) -> tuple[Step, ...]:
        """Bring it back; says what was done.

        Raises:
            EngineAway: Temporal does not answer.
        """
        assert self._rouser is not None
        return await self._rouser.revive(case.suspect)

    async def take_in(self) -> int:
        """Queue what was submitted in its callers' transactions; how many threads had some."""
        taken = 0
        after: int | None = 0
        while after is not None:
            page = await self._journal.driver.read(partial(find_inbox, after, PAGE_THREADS_MAX))
            for key in page.keys:
                taken += await take_in(self._journal.driver, key, self._journal.terms) > 0
            after = page.after
        return taken

    async def finish_deletions(self) -> int:
        """Erase what cut-off deletions have left; how many pieces."""
        erased = 0
        while some := await finish_deletions(self._journal.driver, PIECES_ERASED_MAX):
            erased += some
        return erased

    async def _pages(self) -> AsyncIterator[Page]:
        read = self._journal.driver.read
        glance = Glance(self._stall_us, PAGE_THREADS_MAX, afresh=True)
        after: int | None = 0
        while after is not None:
            page = await read(partial(find_stalled, after, glance, self._journal.terms))
            yield page
            after = page.after
        after = 0
        while after is not None:
            page = await read(partial(find_cancelled, after, PAGE_SESSIONS_MAX, PAGE_THREADS_MAX))
            yield page
            after = page.after
        yield await read(partial(find_expired, EXPIRED_THREADS_MAX))
        after = 0
        while after is not None:
            page = await read(partial(find_unreadable, after, PAGE_THREADS_MAX))
            yield page
            after = page.after

    async def _case(self, suspect: Suspect) -> Case:
        told = "It has none that could be looked at."
        if suspect.turn_id is not None:
            scene = await store_admin.see_turn(self._journal, suspect.key, suspect.turn_id)
            told = told if scene is None else (await store_admin.explain_turn(self._journal, scene)).text
        return Case(suspect, _REASONS[suspect.why], told, await self._temporal(suspect))

    async def _temporal(self, suspect: Suspect) -> dict[str, Condition] | None:
        if self._rouser is None:
            return None
        try:
            return await self._rouser.examine(suspect)
        except EngineAway:
            return None
