"""Labels with a bounded number of values: what a caller or a provider may name without end cannot fill a monitoring."""

from __future__ import annotations

OTHER = "other"


class Bounded:
    """The first so many values that come; all others are one, `other`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, value: str) -> str:
        """The label for a value."""
        if value in self._known:
            return value
        if not value or len(self._known) >= self._most:
            return OTHER
        self._known.add(value)
        return value
