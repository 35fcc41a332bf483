"""What running model calls say, from the workers that hear it to whoever listens.

Rule: who reads listens: reading says for a few seconds that somebody does, so nothing must be started or ended. Of many
readers of a thread in a process, one says so.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from functools import partial

from turnwright.journal.delays import Delays
from turnwright.journal.deltas import Delta, DeltaPlace, Heard
from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact import deltas
from turnwright.journal.transact.rows import find_place, topic

LISTENED_S = 6
RENEW_S = 2.0


class Deltas:
    """The words of a journal's running model calls."""

    def __init__(self, driver: Driver, delays: Delays) -> None:
        self._driver = driver
        self._delays = delays
        self._renewed_s: OrderedDict[str, float] = OrderedDict()

    async def add(self, key: ThreadKey, thread_id: int, n: int, said: Sequence[Delta]) -> None:
        """Keep words as the rows from the `n`th on of an attempt.

        Raises:
            StoreUnavailable: repeat it with the same words, for it may be done.
        """
        await self._driver.write(partial(deltas.write_deltas, key, thread_id, n, said))

    async def read(self, key: ThreadKey, after: DeltaPlace) -> Heard:
        """What a thread's running model call has said behind a place; to a first listener it comes in a second.

        Of a thread that is not there nothing is kept, not even that somebody listens.
        """
        await self._listen(key)
        timed = self._delays.due("deltas")
        heard, seconds = await self._driver.read(partial(deltas.read_deltas, key, after, timed=timed))
        if seconds is not None:
            self._delays.tell("deltas", seconds)
        return heard

    async def listened(self, keys: Collection[ThreadKey]) -> frozenset[ThreadKey]:
        """Those of these threads that somebody listens to."""
        topics = {topic(key): key for key in keys}
        found = await self._driver.read(partial(deltas.find_listened, topics.keys()))
        return frozenset(topics[one] for one in found)

    def watch(self, key: ThreadKey) -> Subscription:
        """Watch commits to a thread, and what its model calls say."""
        return self._driver.watch({topic(key), deltas.said_topic(key)})

    async def _listen(self, key: ThreadKey) -> None:
        now_s, name = time.monotonic(), topic(key)
        if now_s - self._renewed_s.get(name, float("-inf")) < RENEW_S:
            return
        if await self._driver.read(partial(find_place, key)) is None:
            return
        self._renewed_s[name] = now_s
        self._renewed_s.move_to_end(name)
        while now_s - next(iter(self._renewed_s.values())) >= RENEW_S:
            self._renewed_s.popitem(last=False)
        try:
            await self._driver.write(partial(deltas.listen, name, LISTENED_S * SECOND_US))
        except BaseException:
            self._renewed_s.pop(name, None)
            raise
