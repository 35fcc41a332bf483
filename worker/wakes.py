"""Gives the wake-ups a look found, at a bounded rate, and notices when Temporal is away.

Rule: a wake-up is taken before it is given and put back when it could not be given, so an hour without Temporal
counts as no useless wake-up. When Temporal is back it may be an empty one: everything is due again.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from functools import partial

import structlog

from turnwright.journal.driver import Driver
from turnwright.journal.transact.sweeping import Page, Suspect, forget_hints, put_back, take_wakes
from turnwright.worker.rousing import EngineAway, Rouser, SecondLook

AT_ONCE_MAX = 10
PER_S_MAX = 200
SECOND_LOOK_S = 1.0

log = structlog.get_logger(__name__)


class Wakes:
    """Gives wake-ups; `away` while Temporal does not take them."""

    def __init__(self, driver: Driver, rouser: Rouser) -> None:
        self._driver = driver
        self._rouser = rouser
        self.away = False

    async def give(self, page: Page) -> None:
        """Remember the look and wake whom it found, as far as no other sweeper does."""
        for broken in page.broken:
            log.error("thread_unreadable", thread=broken.key, seq=broken.seq, error=broken.error)
        if not (page.suspects or page.carried or page.broken):
            return
        left = deque(await self._driver.write(lambda: take_wakes(page)))
        second: list[SecondLook] = []
        while left:
            # While it is away, one is enough to see that it still is.
            some = [left.popleft() for _ in range(min(len(left), 1 if self.away else AT_ONCE_MAX))]
            if (error := await self._give_some(some, second)) is not None:
                await self._driver.write(partial(put_back, (*some, *left)))
                self._went_away(error)
                return
            await self._came_back()
        await self._look_again(second)

    async def _look_again(self, second: Sequence[SecondLook]) -> None:
        if not second:
            return
        await asyncio.sleep(SECOND_LOOK_S)
        for look in second:
            try:
                await look()
            except EngineAway:
                return
            except Exception:
                log.exception("rouse_failed")

    async def _give_some(self, some: Sequence[Suspect], second: list[SecondLook]) -> EngineAway | None:
        began_s = time.monotonic()
        results = await asyncio.gather(*(self._give_one(suspect, second) for suspect in some))
        pause_s = len(some) / PER_S_MAX - (time.monotonic() - began_s)
        await asyncio.sleep(max(0.0, pause_s))
        return next((error for error in results if error is not None), None)

    async def _give_one(self, suspect: Suspect, second: list[SecondLook]) -> EngineAway | None:
        where = {"thread": suspect.key.canonical, "turn": suspect.turn_id}
        try:
            look = await self._rouser.rouse(suspect)
        except EngineAway as error:
            return error
        except Exception:  # one thread's trouble must not keep the others asleep
            log.exception("rouse_failed", **where)
            return None
        second += [] if look is None else [look]
        log.info("roused", **where, why=suspect.why, wakes=suspect.wakes)
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
