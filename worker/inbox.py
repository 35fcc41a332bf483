"""The loop that queues what callers submitted in transactions of their own, as soon as these are committed.

It also takes in what transactions on threads ask of other threads: see `journal.posts`.

Rule: it decides nothing. One worker leads, others look only while that one is frozen, and several at once do no harm.
The store tells the leader of each commit; what was told to nobody is found by looking once a second. A wake-up that
cannot be given is the sweeper's to give.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial

import structlog

from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.enlisted import take_in
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.enlisting import UNNAMED, InboxPage, find_inbox
from turnwright.journal.transact.posting import TOPIC
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.leading import LeadingLooper

LEASE_S = 3.0
PAUSE_S = 0.01
LOOK_INTERVAL_S = 1.0
PAGE_ROWS_MAX = 100
TAKEN_OF_A_THREAD_MAX = 100
ROUND_S_MAX = 1.0
WAKE_TIMEOUT_S = 3.0
SILENT_PAUSE_S = 5.0
SAID_MAX = 1_000
UNNAMED_CHARACTERS_MAX = 200

log = structlog.get_logger(__name__)


class Inbox(LeadingLooper):
    """Takes in what is enlisted while it leads, or while the leader is frozen.

    Args:
        driver: the journal's store.
        wake: wakes a thread.
        terms: gives how the journal judges who is gone, with this process's presence of the moment.
        look_interval_s: how often to look for what nobody told of.
    """

    def __init__(
        self,
        driver: Driver,
        wake: Callable[[ThreadKey], Awaitable[None]],
        terms: Callable[[], Terms],
        look_interval_s: float = LOOK_INTERVAL_S,
    ) -> None:
        super().__init__("inbox", PAUSE_S, driver, LEASE_S, {TOPIC}, look_interval_s)
        self._wake = wake
        self._terms = terms
        self._look_interval_s = look_interval_s
        self._after = 0
        self._silent_until_s = 0.0
        self._said: set[tuple[str, str]] = set()

    async def work(self, watching: Subscription) -> None:
        """Take in what is there, then wait for more."""
        if not await self._take_in_all():
            await watching.changed(self._look_interval_s)

    async def _take_in_all(self) -> bool:
        """Go on from where the last round stopped, for about a second; whether there is more."""
        until_s = time.monotonic() + ROUND_S_MAX
        more = False
        while True:
            page = await self._driver.read(partial(find_inbox, self._after, PAGE_ROWS_MAX))
            for spelled in page.unnamed:
                self._say(spelled[:UNNAMED_CHARACTERS_MAX], UNNAMED)
            more = await self._take_in_page(page, until_s) or more
            if not self._after:
                return more
            if time.monotonic() > until_s or not await self.acts():
                return True

    async def _take_in_page(self, page: InboxPage, until_s: float) -> bool:
        """Its threads, the first at least, as far as there is time; whether one of them may have more."""
        counts: dict[ThreadKey, int] = {}
        after = page.after or 0
        try:
            for key, place in zip(page.keys, page.places, strict=True):
                if counts and (time.monotonic() > until_s or not await self.acts()):
                    after = place - 1
                    break
                counts[key] = 1  # also when the store goes away amid it
                counts[key] = await self._take_in(key)
        except StoreUnavailable:
            await self._wake_all(_some(counts))
            raise
        await self._wake_all(_some(counts))
        self._after = after
        return TAKEN_OF_A_THREAD_MAX in counts.values()

    async def _take_in(self, key: ThreadKey) -> int:
        """One thread that cannot be read must not keep the others waiting."""
        try:
            return await take_in(self._driver, key, self._terms(), TAKEN_OF_A_THREAD_MAX)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said
            self._say(key.canonical, f"{type(error).__name__}: {error}")
            return 0

    async def _wake_all(self, keys: Collection[ThreadKey]) -> None:
        """A Temporal that was silent is not asked again for a while: taking in would wait for it page by page."""
        if not keys or time.monotonic() < self._silent_until_s:
            return
        try:
            async with asyncio.timeout(WAKE_TIMEOUT_S):
                results = await asyncio.gather(*map(self._wake, keys), return_exceptions=True)
        except TimeoutError:
            results = [TimeoutError("Temporal does not answer")]
            self._silent_until_s = time.monotonic() + SILENT_PAUSE_S
        errors = [str(result) or type(result).__name__ for result in results if isinstance(result, BaseException)]
        if errors:
            log.warning("wake_not_sent", error=errors[0], effect="the sweeper does it later")

    def _say(self, thread: str, error: str) -> None:
        """Once, not with every look."""
        if (thread, error) in self._said:
            return
        if len(self._said) >= SAID_MAX:
            self._said.clear()
        self._said.add((thread, error))
        log.error("enlisted_not_taken", thread=thread, error=error)


def _some(counts: Mapping[ThreadKey, int]) -> list[ThreadKey]:
    return [key for key, count in counts.items() if count]
