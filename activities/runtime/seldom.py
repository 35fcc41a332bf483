"""Saying a thing once in a while, however often it happens.

Rule: what waits is tried again every second, and a log that says so every second hides everything else.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

SAY_AGAIN_S = 60.0
THINGS_REMEMBERED_MAX = 10_000


class Seldom:
    """Remembers what was said lately.

    Args:
        interval_s: how long the same thing is not said again.
        clock: a clock that only goes forward.
    """

    def __init__(self, interval_s: float = SAY_AGAIN_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._said_s: OrderedDict[tuple[str, ...], float] = OrderedDict()

    def is_due(self, *what: str) -> bool:
        """Whether to say it now; who asks says it."""
        now_s = self._clock()
        said_s = self._said_s.get(what)
        if said_s is not None and now_s - said_s < self._interval_s:
            return False
        self._said_s[what] = now_s
        self._said_s.move_to_end(what)
        while len(self._said_s) > THINGS_REMEMBERED_MAX:
            self._said_s.popitem(last=False)
        return True
