"""The operations a turn's run has scheduled, kept in step with the journal's plan.

Rule: the plan names the attempt that may start by its ordinal. A scheduled one with a lower ordinal was
given up by the journal, so it is abandoned and the next is started; one with the same is left alone. An
activity that failed for good wrote nothing and never will: this run does not start it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from temporalio.exceptions import ActivityError, is_cancelled_exception
from temporalio.workflow import ActivityHandle

from turnwright.workflows.payloads import Next, OpRef

Key: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True)
class Scheduled:
    """An operation's attempt and the activity that carries it out."""

    ref: OpRef
    handle: ActivityHandle[Next]


class Operations:
    """What is scheduled at the moment, and what broke."""

    def __init__(self, start: Callable[[OpRef], ActivityHandle[Next]]) -> None:
        self._start = start
        self._scheduled: dict[Key, Scheduled] = {}
        self._broken: dict[Key, int] = {}

    @property
    def any(self) -> bool:
        """Whether an activity is scheduled."""
        return bool(self._scheduled)

    @property
    def names(self) -> list[str]:
        """The scheduled operations, for people."""
        return [str(scheduled.ref) for scheduled in self._scheduled.values()]

    @property
    def some_done(self) -> bool:
        """Whether an activity has ended."""
        return any(scheduled.handle.done() for scheduled in self._scheduled.values())

    @property
    def some_broken(self) -> bool:
        """Whether an activity of this run failed for good."""
        return bool(self._broken)

    def follow(self, planned: Next) -> None:
        """Start what the plan says may start, is not scheduled yet, and did not break."""
        for ref in planned.operations:
            key = (ref.kind, ref.step, ref.call)
            if self._broken.get(key, 0) >= ref.ordinal:
                continue
            known = self._scheduled.get(key)
            if known is not None and known.ref.ordinal >= ref.ordinal:
                continue
            if known is not None:
                known.handle.cancel()
            self._scheduled[key] = Scheduled(ref, self._start(ref))

    def take_done(self) -> list[Next]:
        """What the activities that have ended said; they are not scheduled any more."""
        said: list[Next] = []
        for key, scheduled in list(self._scheduled.items()):
            if not scheduled.handle.done():
                continue
            del self._scheduled[key]
            try:
                said.append(scheduled.handle.result())
            except ActivityError as error:
                if not is_cancelled_exception(error):
                    self._broken[key] = scheduled.ref.ordinal
        return said

    def abandon(self) -> None:
        """Give up what is scheduled."""
        for scheduled in self._scheduled.values():
            scheduled.handle.cancel()
        self._scheduled.clear()
