"""Recovery by hand: what the sweeper does, for all threads at once, with the reasons.

Rule: it looks at everything anew, whatever hints say, and replaces at once what Temporal holds wedged. Doing it while
workers run, or twice, does no harm: it only has somebody look at a thread, who decides under the thread's lock. What
one thread has against it keeps no other from being brought back: it is told, and left.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial

from temporalio.service import RPCError

from turnwright.journal import store_admin
from turnwright.journal.durations import SECOND_US
from turnwright.journal.enlisted import take_in
from turnwright.journal.errors import UNREADABLE, StoreUnavailable, TurnwrightError
from turnwright.journal.script import Script
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import finish_deletions
from turnwright.journal.transact.enlisting import UNNAMED, find_inbox
from turnwright.journal.transact.sweeping import (
    Broken,
    Glance,
    Page,
    Suspect,
    find_cancelled,
    find_overdue,
    find_stalled,
    find_unreadable,
)
from turnwright.worker.rousing import Condition, EngineAway, Step, TemporalRouser

PAGE_THREADS_MAX = 100
PAGE_SESSIONS_MAX = 500
PIECES_ERASED_MAX = 1_000
NO_TURN = "It has none that could be looked at."
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


@dataclass(frozen=True, slots=True)
class Revived:
    """What was done about a thread; `error`: what stood against it, so that it is left as it was."""

    steps: tuple[Step, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TakenIn:
    """How many threads had enlisted turns that are queued now, and in which some could not be, with the reason."""

    threads: int
    left: dict[str, str]


class Recovery:
    """One recovery of a journal; `away`: how Temporal said that it does not answer, and is asked no more.

    Args:
        journal: the journal.
        rouser: brings threads back; None, as where Temporal cannot be reached, only looks.
        stall_s: a turn that was appended to within this time is left alone.
    """

    def __init__(self, journal: Journal, rouser: TemporalRouser | None, stall_s: float) -> None:
        self._journal = journal
        self._rouser = rouser
        self._stall_us = int(stall_s * SECOND_US)
        self.away: str | None = None

    async def find(self) -> AsyncIterator[Case | Broken]:
        """Each thread to be brought back, once, and those that cannot be read."""
        seen: set[int] = set()
        async for page in self._pages():
            looked_at: tuple[Suspect | Broken, ...] = (*page.broken, *page.suspects)
            for found in looked_at:
                if found.thread_id not in seen:
                    seen.add(found.thread_id)
                    yield await self._case(found) if isinstance(found, Suspect) else found

    async def recover(self, case: Case) -> Revived:
        """Bring it back; says what was done, or why it was not."""
        assert self._rouser is not None
        if self.away is not None:
            return Revived(error=self.away)
        try:
            return Revived(await self._rouser.revive(case.suspect))
        except EngineAway as error:
            self.away = str(error)
            return Revived(error=self.away)
        except RPCError as error:
            return Revived(error=f"Temporal refuses: {error}")

    async def take_in(self) -> TakenIn:
        """Queue what was submitted in its callers' transactions."""
        taken, left = 0, dict[str, str]()
        after: int | None = 0
        while after is not None:
            page = await self._journal.driver.read(partial(find_inbox, after, PAGE_THREADS_MAX))
            left |= dict.fromkeys(page.unnamed, UNNAMED)
            for key in page.keys:
                some = False
                try:
                    while await take_in(self._journal.driver, key, self._journal.terms):
                        some = True
                except StoreUnavailable:
                    raise
                except TurnwrightError as error:
                    left[key.canonical] = str(error)
                taken += some
            after = page.after
        return TakenIn(taken, left)

    async def finish_deletions(self) -> int:
        """Erase what cut-off deletions have left; how many pieces."""
        erased = 0
        while some := await finish_deletions(self._journal.driver, PIECES_ERASED_MAX):
            erased += some
        return erased

    async def _pages(self) -> AsyncIterator[Page]:
        glance = Glance(self._stall_us, PAGE_THREADS_MAX, afresh=True)
        looks: tuple[Callable[[int, int], Script[Page]], ...] = (
            lambda after, _: find_stalled(after, glance, self._journal.terms),
            lambda after, thread: find_cancelled(after, PAGE_SESSIONS_MAX, PAGE_THREADS_MAX, thread, afresh=True),
            lambda after, _: find_overdue(after, PAGE_THREADS_MAX),
            lambda after, _: find_unreadable(after, PAGE_THREADS_MAX),
        )
        for look in looks:
            after: int | None = 0
            thread = 0
            while after is not None:
                page = await self._journal.driver.read(partial(look, after, thread))
                yield page
                after, thread = page.after, page.after_thread

    async def _case(self, suspect: Suspect) -> Case | Broken:
        try:
            told = await self._why(suspect)
        except UNREADABLE as error:
            return Broken(suspect.key.canonical, suspect.thread_id, suspect.seq, str(error))
        return Case(suspect, _REASONS[suspect.why], told, await self._temporal(suspect))

    async def _why(self, suspect: Suspect) -> str:
        if suspect.turn_id is None:
            await self._journal.thread(suspect.key)  # what an older version folded is read only here
            return NO_TURN
        scene = await store_admin.see_turn(self._journal, suspect.key, suspect.turn_id)
        return NO_TURN if scene is None else (await store_admin.explain_turn(self._journal, scene)).text

    async def _temporal(self, suspect: Suspect) -> dict[str, Condition] | None:
        if self._rouser is None or self.away is not None:
            return None
        try:
            return await self._rouser.examine(suspect)
        except EngineAway as error:
            self.away = str(error)
        except RPCError:
            return None  # bringing it back meets the same, and says it
        return None
