"""Heartbeats of an attempt to Temporal, and whether anybody may still wait there for its end.

Rule: Temporal gives a silent attempt to another worker and tells the silent one nothing. So one that was
silent for nearly that long takes it that nobody waits for it any more.
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
        self._lost = False

    @property
    def lost(self) -> bool:
        """Whether there was a silence, there is one now, or Temporal said that it does not listen."""
        return self._lost or time.monotonic() - self._last_s > self._silence_s_max

    def unheard(self) -> None:
        """Temporal said that it does not wait for the attempt."""
        self._lost = True

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            activity.heartbeat()
            self._lost = self.lost
            self._last_s = time.monotonic()
            await asyncio.sleep(self._interval_s)
