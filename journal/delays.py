"""How long after its commit something is read for who follows it, looked at now and then.

Rule: both times are the store's own, so clocks of other machines are of no matter. What somebody missed while it was
not followed yet does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

Streamed: TypeAlias = Literal["entries", "deltas"]
DelayObserver: TypeAlias = Callable[[Streamed, float], None]
LOOK_S = 1.0


class Delays:
    """Those of one journal in this process; nothing is looked at while there are no `observers`."""

    def __init__(self) -> None:
        self.observers: list[DelayObserver] = []
        self._next_s: dict[Streamed, float] = {}

    def due(self, what: Streamed) -> bool:
        """Whether it is time to look at one."""
        return bool(self.observers) and time.monotonic() >= self._next_s.get(what, 0)

    def tell(self, what: Streamed, seconds: float) -> None:
        """One was so long; the next is due in a second."""
        self._next_s[what] = time.monotonic() + LOOK_S
        for observer in self.observers:
            observer(what, seconds)
