"""How this worker is doing, as its beats tell others: whether it can take another call, and whether Temporal answers.

Rule: only what changes seldom is told, not how many calls run, so that most beats carry nothing but the time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from turnwright.journal.durations import SECOND_US
from turnwright.journal.takers import AWAY_SINCE_US, FULL, SLOTS
from turnwright.journal.transact.sweeping import Why


@dataclass
class Condition:
    """`slots`: how many calls may run here at the same time; `running`: how many do.

    `rescues`: how often its sweeper woke a thread, by why; others are not told that.
    """

    slots: int = 0
    running: int = 0
    away_since_us: int | None = None
    temporal_asked: bool = False
    rescues: dict[str, int] = field(default_factory=lambda: dict.fromkeys(get_args(Why), 0))

    @property
    def temporal_up(self) -> bool | None:
        """Whether Temporal answered the last time that it was asked; None: it was not asked yet."""
        return self.away_since_us is None if self.temporal_asked else None

    def told(self) -> Mapping[str, Any]:
        """As it stands beside the presence."""
        return {SLOTS: self.slots, FULL: 0 < self.slots <= self.running, AWAY_SINCE_US: self.away_since_us}

    def temporal_away(self) -> None:
        """Temporal did not answer."""
        self.temporal_asked = True
        if self.away_since_us is None:
            self.away_since_us = round(time.time() * SECOND_US)

    def temporal_there(self) -> None:
        """Temporal answered."""
        self.temporal_asked = True
        self.away_since_us = None
