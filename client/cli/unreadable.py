"""What of a list cannot be read: a word in its row, and below the list why, and what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from turnwright.client.cli.screen import Screen

UNREADABLE = "unreadable"


class Seen(Protocol):
    """An item of a list."""

    @property
    def unreadable(self) -> str:
        """Why it cannot be read; empty: it can."""


def note_unreadable(items: Iterable[Seen], screen: Screen) -> None:
    """Say each reason once."""
    for reason in dict.fromkeys(item.unreadable for item in items if item.unreadable):
        screen.note(f"{UNREADABLE}: {reason}")
