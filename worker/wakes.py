"""Gives the wake-ups a look found, at a bounded rate, and notices when Temporal is away.

Rule: a wake-up is taken before it is given and put back when it could not be given, so an hour without Temporal
counts as no useless wake-up. When Temporal is back it may be an empty one: everything is due again. Second looks wait
until they are due, and nobody waits for them: the sweep goes on meanwhile. Of those that were woken already a few are
woken again in each look: when Temporal has more to do than it can, all threads stand still for a while, and waking
all of them again and again would be most of what it does.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from turnwright.journal.driver import Driver
from turnwright.journal.transact.sweeping import Page, Suspect, forget_hints, put_back, take_wakes
from turnwright.worker.rousing import EngineAway, Rouser, SecondLook

AT_ONCE_MAX = 10
PER_S_MAX = 200
REPEATED_MAX = 10
SECOND_LOOK_S = 1.0
SECOND_LOOKS_S_MAX = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Second:
    """A second look at a thread, to be taken from `due_s` on."""

    due_s: float
    suspect: Suspect
    look: SecondLook


class Wakes:
    """Gives wake-ups; `away` while Temporal does not take them."""

    def __init__(self, driver: Driver, rouser: Rouser) -> None:
        self._driver = driver
        self._rouser = rouser
        self._second: deque[_Second] = deque()
        self.away = False

    async def give(self, page: Page) -> None:
        """Remember the look and wake whom it found, as far as no other sweeper does."""
        for broken in page.broken:
            if broken.newer:
                log.warning(
                    "thread_of_a_newer_version", thread=broken.key, error=broken.error, then="a newer worker has it"
                )
            else:
                log.error("thread_unreadable", thread=broken.key, seq=broken.seq, error=broken.error)
        if not (page.suspects or page.carried or page.broken):
            return
        some = replace(page, suspects=_bounded(page.suspects))
        taken = await self._driver.write(lambda: take_wakes(some))
        left = deque(sorted(taken, key=lambda suspect: bool(suspect.orphans)))  # of others a second look may be due
        while left:
            # While it is away, one is enough to see that it still is.
            now = [left.popleft() for _ in range(min(len(left), 1 if self.away else AT_ONCE_MAX))]
            if (error := await self._give_some(now)) is not None:
                await self._driver.write(partial(put_back, (*now, *left)))
                self._went_away(error)
                return
            await self._came_back()

    async def look_again(self, keep_lead: Callable[[], Awaitable[object]]) -> None:
        """Take the second looks that are due, a few at once, as many as there is time for."""
        until_s = time.monotonic() + SECOND_LOOKS_S_MAX
        while some := self._due(time.monotonic()):
            if any(await asyncio.gather(*map(self._look_again, some))):
                self._second.clear()
            if time.monotonic() > until_s:
                return
            await keep_lead()

    def _due(self, now_s: float) -> list[_Second]:
        some: list[_Second] = []
        while self._second and self._second[0].due_s <= now_s and len(some) < AT_ONCE_MAX:
            some.append(self._second.popleft())
        return some

    async def _look_again(self, second: _Second) -> bool:
        """Whether Temporal is away."""
        try:
            await second.look()
        except EngineAway:
            return True
        except Exception:  # one thread's trouble must not keep the others waiting
            log.exception("rouse_failed", **_where(second.suspect))
        return False

    async def _give_some(self, some: Sequence[Suspect]) -> EngineAway | None:
        began_s = time.monotonic()
        results = await asyncio.gather(*map(self._give_one, some))
        pause_s = len(some) / PER_S_MAX - (time.monotonic() - began_s)
        await asyncio.sleep(max(0.0, pause_s))
        return next((error for error in results if error is not None), None)

    async def _give_one(self, suspect: Suspect) -> EngineAway | None:
        try:
            look = await self._rouser.rouse(suspect)
        except EngineAway as error:
            return error
        except Exception:  # one thread's trouble must not keep the others asleep
            log.exception("rouse_failed", **_where(suspect))
            return None
        if look is not None:
            self._second.append(_Second(time.monotonic() + SECOND_LOOK_S, suspect, look))
        log.info("roused", **_where(suspect), why=suspect.why, wakes=suspect.wakes)
        return None

    def _went_away(self, error: EngineAway) -> None:
        if not self.away:
            log.warning("temporal_away", error=str(error), then="whatever has work is woken when it is back")
        self.away = True

    async def _came_back(self) -> None:
        if self.away:
            self.away = False
            log.info("temporal_back")
            await self._driver.write(forget_hints)


def _bounded(suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
    again = [suspect for suspect in suspects if suspect.wakes > 1 and suspect.counted and not suspect.urgent]
    left_out = {suspect.thread_id for suspect in again[REPEATED_MAX:]}
    return tuple(suspect for suspect in suspects if suspect.thread_id not in left_out)


def _where(suspect: Suspect) -> dict[str, str | None]:
    return {"thread": suspect.key.canonical, "turn": suspect.turn_id}
