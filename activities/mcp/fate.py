"""What becomes of a session."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class Fate:
    """The other side is `gone`, or the session is `left`: nothing is begun in it any more, and `why`."""

    gone: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    forgotten: bool = False
    why: str = ""

    def forget(self) -> None:
        """The other side does not know the session any more."""
        self.forgotten = True
        self.leave("the server does not know it any more")

    def leave(self, why: str) -> None:
        """Begin nothing more in it; where the other side is gone, that is what became of it."""
        if not self.left.is_set() and not self.gone.is_set():
            self.why = why
            self.left.set()
