"""A ledger outside the system: one line per effect, on the disk before the caller hears of it, and never taken back.

It stands for whatever must not happen twice: a payment, a letter. Each line carries the idempotency key of the
call that wrote it, so that it can be found out later whether a call took effect.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Line:
    """One effect: by which call, and what."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger in a file."""

    path: Path

    def append(self, line: Line) -> int:
        """Write the line for good; its number."""
        written = json.dumps({"key": line.key, "text": line.text}, ensure_ascii=False) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, written.encode())  # one write, so that two processes never mix their lines
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return [found.key for found in self.lines()].index(line.key) + 1

    def lines(self) -> list[Line]:
        """Everything written so far."""
        if not self.path.exists():
            return []
        return [Line(**json.loads(line)) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def find(self, key: str) -> Line | None:
        """The line of that call, if the call took effect."""
        return next((line for line in self.lines() if line.key == key), None)

    def count(self, text: str) -> int:
        """How often this stands in the ledger."""
        return sum(line.text == text for line in self.lines())
