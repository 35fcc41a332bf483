"""Who did what holds now: paused this, cancelled that.

Rule: it is read from the entry that did it, so what is erased there is erased here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from turnwright.journal.durations import human
from turnwright.journal.entries import ByPrincipal, Entry

Level = Literal["turn", "thread", "session"]


@dataclass(frozen=True, slots=True)
class Act:
    """Who, when (microseconds since 1970 UTC, by the store's clock) and why; no principal: Turnwright itself."""

    principal: str
    at_us: int
    reason: str | None = None

    def told(self, now_us: int) -> str:
        """In words, such as `by ann 3 min ago, because: stocktaking`."""
        by = f"by {self.principal} " if self.principal else ""
        because = f", because: {self.reason}" if self.reason else ""
        return f"{by}{human(now_us - self.at_us)} ago{because}"


def act_of(entry: Entry) -> Act:
    """The act an entry records."""
    if isinstance(entry.payload, ByPrincipal):
        return Act(entry.payload.principal, entry.at_us, entry.payload.reason)
    return Act("", entry.at_us)
