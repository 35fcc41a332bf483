"""Gates: places inside a tool where the demonstration can hold it, to kill its worker exactly there.

A gate is closed while its file exists. No sleep has to be long enough and none is too long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LEDGER_BEFORE = "ledger-before"
LEDGER_AFTER = "ledger-after"
FILE_AFTER = "file-after"
POLL_S = 0.02
HELD_S_MAX = 120.0


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one demonstration."""

    folder: Path

    @contextmanager
    def closed(self, name: str) -> Iterator[None]:
        """Hold whoever comes to the gate while the block runs."""
        gate = self.folder / name
        self._mark(name).unlink(missing_ok=True)
        gate.touch()
        try:
            yield
        finally:
            gate.unlink(missing_ok=True)

    def reached(self, name: str) -> bool:
        """Whether somebody waits, or has waited, at the gate since it was closed last."""
        return self._mark(name).exists()

    async def pass_through(self, name: str) -> None:
        """Go on when the gate is open."""
        gate = self.folder / name
        if not gate.exists():
            return
        self._mark(name).touch()
        async with asyncio.timeout(HELD_S_MAX):
            while gate.exists():  # noqa: ASYNC110 - another process opens it
                await asyncio.sleep(POLL_S)

    def _mark(self, name: str) -> Path:
        return self.folder / f"{name}.reached"
