"""A loop of which one process does the work, and which hears of commits."""

import asyncio
import time
from abc import abstractmethod

from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.lead import Lead
from turnwright.worker.actor import Looper

BEATS_PER_LEASE = 3


class LeadingLooper(Looper):
    """Does one thing again and again while it leads, or while the leader is frozen; several at once must do no harm.

    Args:
        name: its own name, and that of the lead.
        interval_s: the pause between two rounds.
        driver: the journal's store.
        lease_s: how long a leader that says nothing leads.
        topics: the commits that it hears of; None: all.
        follow_s: how often one that follows asks whether it shall act.
    """

    def __init__(
        self, name: str, interval_s: float, driver: Driver, lease_s: float, topics: set[str] | None, follow_s: float
    ) -> None:
        super().__init__(name, interval_s)
        self.lead = Lead(driver, name, lease_s)
        self._driver = driver
        self._lease_s = lease_s
        self._topics = topics
        self._follow_s = follow_s
        self._watching: Subscription | None = None
        self._led_until_s = 0.0

    async def end(self) -> None:
        """Let another lead."""
        try:
            await self._stop_watching()
        finally:
            await self.lead.release()

    async def round(self) -> None:
        """One round of the work if it is this one's, else a rest."""
        if not await self.acts():
            await self._stop_watching()
            self.follow()
            await asyncio.sleep(self._follow_s)
            return
        if self._watching is None:
            self._watching = await self._driver.watch(self._topics).__aenter__()
        await self.work(self._watching)

    @abstractmethod
    async def work(self, watching: Subscription) -> None:
        """One round of whoever acts; it may wait for the next commit."""

    def follow(self) -> None:
        """What is to be remembered of a time in which another acts."""

    async def acts(self) -> bool:
        """Whether this one acts. Who leads need not say so with each commit it hears of."""
        if not self.lead.held or time.monotonic() >= self._led_until_s:
            self._led_until_s = time.monotonic() + self._lease_s / BEATS_PER_LEASE
            return await self.lead.role() != "follower"
        return True

    async def _stop_watching(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None:
            await watching.__aexit__(None, None, None)
