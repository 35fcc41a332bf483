"""Whose turn it is where several want to deliver to one host.

Rule: a host has a bounded number of lanes, so that one that hangs leaves room for the others. Where more want to than
there are, they come in the order of their ids, and nobody comes again before all behind it have come once.
"""

from __future__ import annotations

from collections import Counter


class Lanes:
    """The lanes that are taken, and how far each host has come in its order."""

    def __init__(self, at_once_max: int) -> None:
        self._at_once_max = at_once_max
        self._taken: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        self._turned: set[str] = set()
        self._waiting: set[str] = set()
        self._crowded: set[str] = set()

    def take(self, host: str, name: str) -> bool:
        """Take a lane, if there is one and it is this one's turn."""
        if name <= self._last.get(host, ""):
            self._turned.add(host)
            return False
        if self._taken[host] >= self._at_once_max:
            self._waiting.add(host)
            return False
        self._taken[host] += 1
        self._last[host] = name
        return True

    def leave(self, host: str) -> None:
        """Give a lane back."""
        self._taken[host] -= 1
        if not self._taken[host]:
            del self._taken[host]

    def is_crowded(self, host: str) -> bool:
        """Whether somebody waits for a lane there, as far as is known."""
        return host in self._waiting or host in self._crowded

    def go_round(self) -> bool:
        """All that want to have been asked, in order. Whether some are to be asked anew, since it is their turn now."""
        done = self._last.keys() - self._waiting
        for host in done:
            del self._last[host]
        again = bool(done & self._turned)
        self._turned, self._waiting, self._crowded = set(), set(), self._waiting
        return again
