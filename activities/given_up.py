"""Runs of a hook that were given up and have not ended: so many, and the hook is not begun again until one has.

Rule: a hook that hangs is tried again with each attempt of each turn, for as long as it hangs. Each would leave a
thread behind, or a task, until the worker has no room for another.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final

GIVEN_UP_MAX: Final = 16

_lock = threading.Lock()
_counts: Counter[Hashable] = Counter()


class StillRunning(Exception):
    """So many runs of the hook were given up and have not ended that it is not begun again."""

    def __init__(self) -> None:
        super().__init__(f"{GIVEN_UP_MAX} runs of it that took too long have not ended yet, so it is not begun again")


class Run:
    """One run of a hook: of its task, and of its thread if it has one.

    Raises:
        StillRunning: there are too many already that nobody waits for any more.
    """

    def __init__(self, hook: Callable[[], Any]) -> None:
        self._hook = hook
        self._of = _function_of(hook)
        self._parts = 1
        self._is_given_up = False
        with _lock:
            if _counts[self._of] >= GIVEN_UP_MAX:
                raise StillRunning

    def in_thread(self) -> Any:  # noqa: ANN401 - whatever the hook gives
        """Run the hook in a thread that is its own."""
        with _lock:
            if self._is_given_up and not self._parts:  # its task was quicker to end than its thread to begin
                self._count(1)
            self._parts += 1
        try:
            return self._hook()
        finally:
            self.end()

    def end(self, _: object = None) -> None:
        """A part of it has ended: its task, for which this is the callback, or its thread."""
        with _lock:
            self._parts -= 1
            if self._is_given_up and not self._parts:
                self._count(-1)

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        with _lock:
            if self._parts and not self._is_given_up:
                self._is_given_up = True
                self._count(1)

    def _count(self, more: int) -> None:
        _counts[self._of] += more
        if not _counts[self._of]:
            del _counts[self._of]


def _function_of(hook: Callable[[], Any]) -> Hashable:
    """What it is a run of, whatever it is called with; nothing else has these ids as long as it runs."""
    function: Any = hook
    while isinstance(function, partial):
        function = function.func
    return id(getattr(function, "__self__", None)), id(getattr(function, "__func__", function))
