"""Heartbeats of an attempt to Temporal, and whether there was ever a silence.

Rule: Temporal gives a silent attempt to another worker and tells the silent one nothing. So one that was
silent for nearly that long takes it that nobody waits for its end any more.
"""

from __future__ import annotations

import asyncio
import time

from temporalio import activity


class Pulse:
    """Beats while `run` runs."""

    def __init__(self, interval_s: float, silence_s_max: float) -> None:
        self._interval_s = interval_s
        self._silence_s_max = silence_s_max
        self._last_s = time.monotonic()
        self._broke = False

    @property
    def broke(self) -> bool:
        """Whether there was a silence, or there is one now."""
        self._broke = self._broke or time.monotonic() - self._last_s > self._silence_s_max
        return self._broke

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            activity.heartbeat()
            _ = self.broke
            self._last_s = time.monotonic()
            await asyncio.sleep(self._interval_s)
