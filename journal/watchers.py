"""Who waits for which keys, and the waking of them; both stores wake through this.

Rule: a commit that happens between two calls of `changed` is not lost: the event stays set until it is
seen. Everything here runs on the driver's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from types import TracebackType
from typing import Self


class Watch:
    """One standing watch (see `turnwright.journal.driver.Subscription`); a context manager."""

    def __init__(self, watchers: Watchers, keys: Collection[str] | None) -> None:
        self.keys = None if keys is None else frozenset(keys)
        self._watchers = watchers
        self._event = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._watchers.add(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchers.remove(self)

    def wake(self) -> None:
        """Let the next `changed` return True."""
        self._event.set()

    async def changed(self, timeout_s: float) -> bool:
        """Wait for a wake-up at most that long; False when there was none."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class Watchers:
    """All watches of one driver. `listen` is awaited at each new watch: only then other processes matter."""

    def __init__(self, listen: Callable[[], Awaitable[None]]) -> None:
        self._listen = listen
        self._everything: set[Watch] = set()
        self._by_key: dict[str, set[Watch]] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    async def add(self, watch: Watch) -> None:
        """Take a watch in, and listen before it is told that it is in."""
        self._count += 1
        for bucket in self._buckets(watch):
            bucket.add(watch)
        try:
            await self._listen()
        except BaseException:
            self.remove(watch)
            raise

    def remove(self, watch: Watch) -> None:
        """Forget a watch."""
        self._count -= 1
        for bucket in self._buckets(watch):
            bucket.discard(watch)
        for key in watch.keys or ():
            if not self._by_key[key]:
                del self._by_key[key]

    def wake(self, keys: Iterable[str] | None) -> None:
        """Wake who watches one of these keys; None wakes everybody."""
        if keys is None:
            for watch in self._everything.union(*self._by_key.values()):
                watch.wake()
            return
        for watch in self._everything.union(*(self._by_key.get(key, ()) for key in keys)):
            watch.wake()

    def _buckets(self, watch: Watch) -> list[set[Watch]]:
        if watch.keys is None:
            return [self._everything]
        return [self._by_key.setdefault(key, set()) for key in watch.keys]
