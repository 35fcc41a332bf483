"""Whether the journal answers, for all who ask at once and a moment longer."""

from __future__ import annotations

import asyncio

from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.store import Journal

FRESH_S = 1.0
ANSWER_S_MAX = 2.0


class Pulse:
    """Whether the journal answers, as it was found lately, and its `journal_id`, empty before it ever did."""

    def __init__(self, journal: Journal) -> None:
        self.journal_id = ""
        self._journal = journal
        self._asking = asyncio.Lock()
        self._answers = False
        self._fresh_until_s = 0.0

    async def check(self) -> None:
        """Raises `StoreUnavailable` if it does not answer."""
        async with self._asking:
            now_s = asyncio.get_running_loop().time()
            if now_s >= self._fresh_until_s:
                self._answers = await self._ask()
                self._fresh_until_s = asyncio.get_running_loop().time() + FRESH_S
        if not self._answers:
            raise StoreUnavailable("the journal does not answer")

    async def _ask(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                self.journal_id = await self._journal.journal_id()
        except (StoreUnavailable, TimeoutError):
            return False
        return True
