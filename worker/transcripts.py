"""Transcripts of all sessions, written as they happen.

Rule: one process writes in a folder, and another one goes on when it ends. The longer a look at all sessions takes, the
longer is the pause after it.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from turnwright.journal.store import Journal
from turnwright.journal.store_transcripts import TranscriptWriter
from turnwright.worker.actor import Looper

INTERVAL_S = 1.0
PAUSE_ROUNDS = 10


class Transcribing(Looper):
    """Keeps a folder up to date."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        super().__init__("transcripts", INTERVAL_S)
        self._writer = TranscriptWriter(journal, folder)

    async def round(self) -> None:
        """Write what is new, if nobody else does."""
        if not await asyncio.to_thread(self._writer.take):
            return
        began_s = time.monotonic()
        await self._writer.round()
        self.interval_s = max(INTERVAL_S, PAUSE_ROUNDS * (time.monotonic() - began_s))

    async def end(self) -> None:
        """Let another one write."""
        self._writer.leave()
