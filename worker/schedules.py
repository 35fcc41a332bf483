"""The loop that has Temporal's schedules follow from the journal's.

Rule: it decides nothing. One worker leads; several at once do no harm, for what Temporal was told is written down only
if it is still so. What is changed in the journal is told at once, or when Temporal is back; a Temporal that is another
one is told everything, and so it is when the task queue is another one; and each schedule is looked at again now and
then, because Temporal may have lost it or somebody may have changed it there. What came meanwhile, as far as it is
caught up, is made up for.
"""

import asyncio
import time
from functools import partial

import structlog
from temporalio.service import RPCError

from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.durations import SECOND_US
from turnwright.journal.transact.rows import clock
from turnwright.journal.transact.schedules import (
    TOPIC,
    DueSchedule,
    find_definition,
    find_due,
    forget_schedule,
    look_elsewhere,
    missed_since_us,
    note_refused,
    note_told,
)
from turnwright.worker.leading import LeadingLooper
from turnwright.worker.rousing import AWAY
from turnwright.workflows.engine import TemporalUnreachable, identify
from turnwright.workflows.schedules import Scheduler, Wanted

LEASE_S = 3.0
PAUSE_S = 0.02
FOLLOW_INTERVAL_S = 1.0
LOOK_INTERVAL_S = 1.0
IDENTIFY_INTERVAL_S = 5.0
PAGE_MAX = 20
LOOK_AGAIN_S = 60
LOOK_SOON_S = 5
LOOK_AHEAD = 5
REFUSED_AGAIN_S = 60
ERASED = "what it is to submit was erased; delete it"

log = structlog.get_logger(__name__)


class Schedules(LeadingLooper):
    """Tells Temporal of schedules while it leads, or while the leader is frozen.

    Args:
        driver: the journal's store.
        scheduler: Temporal's schedules.
    """

    def __init__(self, driver: Driver, scheduler: Scheduler) -> None:
        super().__init__("schedules", PAUSE_S, driver, LEASE_S, {TOPIC}, FOLLOW_INTERVAL_S)
        self._scheduler = scheduler
        self._applied_to = ""
        self._identify_at_s = 0.0

    async def work(self, watching: Subscription) -> None:
        """Tell what is to be told, then wait for more."""
        try:
            more = await self._tell()
        except TemporalUnreachable:
            more = False  # the log says it where something is to be woken
        if not more:
            await watching.changed(LOOK_INTERVAL_S)

    async def _tell(self) -> bool:
        """Whether there is more.

        Raises:
            TemporalUnreachable: it is away.
        """
        now_us = await self._driver.read(clock)
        if time.monotonic() >= self._identify_at_s:
            await self._see_temporal()
        due = await self._driver.read(partial(find_due, now_us, PAGE_MAX))
        away = [error for error in await asyncio.gather(*(self._try_one(one, now_us) for one in due)) if error]
        if away:
            raise away[0]
        return len(due) == PAGE_MAX

    async def _try_one(self, due: DueSchedule, now_us: int) -> TemporalUnreachable | None:
        """One that Temporal does not take keeps no other waiting; an error if it is away."""
        try:
            await self._tell_one(due, now_us)
        except RPCError as error:
            if error.status in AWAY:
                return TemporalUnreachable(str(error))
            await self._refused(due, now_us, error.message)
        except (ValueError, TypeError) as error:
            await self._refused(due, now_us, str(error))
        return None

    async def _see_temporal(self) -> None:
        waker = self._scheduler.waker
        applied_to = f"{waker.journal_id} {await identify(waker.client)} {waker.task_queue}"
        if applied_to != self._applied_to:
            await self._driver.write(partial(look_elsewhere, applied_to))
        self._applied_to = applied_to
        self._identify_at_s = time.monotonic() + IDENTIFY_INTERVAL_S

    async def _tell_one(self, due: DueSchedule, now_us: int) -> None:
        if due.state == "ended":
            await self._scheduler.delete(due.session, due.generation)
            await self._driver.write(partial(forget_schedule, due))
            return
        made = await self._driver.read(partial(find_definition, due.session, due.generation))
        if made is None:
            await self._refused(due, now_us, ERASED)
            return
        catch_up_us = made.definition.times.catch_up_s * SECOND_US
        missed_us = await self._driver.read(partial(missed_since_us, due, now_us - catch_up_us))
        wanted = Wanted(due.session, due.generation, made.definition, due.state == "paused", missed_us)
        next_us = await self._scheduler.apply(wanted, now_us)
        again_us = _look_again_us(now_us, next_us)
        await self._driver.write(partial(note_told, due, self._applied_to, next_us, now_us, again_us))

    async def _refused(self, due: DueSchedule, now_us: int, error: str) -> None:
        log.warning("schedule_refused", session=due.session.canonical, schedule=due.name, error=error)
        await self._driver.write(partial(note_refused, due, error, now_us + REFUSED_AGAIN_S * SECOND_US))


def _look_again_us(now_us: int, next_us: tuple[int, ...]) -> int:
    """While it is still known when it comes next, but not too often."""
    soon_us, late_us = now_us + LOOK_SOON_S * SECOND_US, now_us + LOOK_AGAIN_S * SECOND_US
    return min(max(next_us[:LOOK_AHEAD][-1], soon_us), late_us) if next_us else late_us
