"""Asks an operation to end, and remembers why.

Rule: the first reason counts: what was asked for later found the operation ending already.
"""

from __future__ import annotations

import asyncio
from typing import Literal, TypeAlias

# The journal gave the attempt up; this worker is shutting down.
Why: TypeAlias = Literal["cancelled", "drained"]


class Stop:
    """One operation's request to end."""

    def __init__(self) -> None:
        self._why: Why | None = None
        self._asked = asyncio.Event()

    @property
    def why(self) -> Why | None:
        """The reason, or None while the operation is to go on."""
        return self._why

    def ask(self, why: Why) -> None:
        """Ask the operation to end."""
        self._why = self._why or why
        self._asked.set()

    async def wait(self) -> None:
        """Return when the operation is asked to end."""
        await self._asked.wait()
