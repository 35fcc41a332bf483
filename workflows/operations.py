"""The operations a turn's run has scheduled, kept in step with the journal's plan.

Rule: the plan names the attempt that may start by its ordinal. A scheduled one with a lower ordinal was
given up by the journal, so it is abandoned and the next is started; one with the same is left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from turnwright.workflows.payloads import Next, OpRef

if TYPE_CHECKING:
    from temporalio.workflow import ActivityHandle

Key: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True)
class Scheduled:
    """An operation's attempt and the activity that carries it out."""

    ref: OpRef
    handle: ActivityHandle[Next]


class Operations:
    """What is scheduled at the moment."""

    def __init__(self, start: Callable[[OpRef], ActivityHandle[Next]]) -> None:
        self._start = start
        self._scheduled: dict[Key, Scheduled] = {}

    @property
    def any(self) -> bool:
        """Whether an activity is scheduled."""
        return bool(self._scheduled)

    @property
    def names(self) -> list[str]:
        """The scheduled operations, for people."""
        return [f"{s.ref.kind} {s.ref.step} {s.ref.call}".strip() for s in self._scheduled.values()]

    @property
    def some_done(self) -> bool:
        """Whether an activity has ended."""
        return any(scheduled.handle.done() for scheduled in self._scheduled.values())

    def follow(self, planned: Next) -> None:
        """Start what the plan says may start and is not scheduled yet."""
        for ref in planned.start:
            key = (ref.kind, ref.step, ref.call)
            known = self._scheduled.get(key)
            if known is not None and known.ref.ordinal >= ref.ordinal:
                continue
            if known is not None:
                known.handle.cancel()
            self._scheduled[key] = Scheduled(ref, self._start(ref))

    def take_done(self) -> list[ActivityHandle[Next]]:
        """The activities that have ended; they are not scheduled any more."""
        done = {key: scheduled for key, scheduled in self._scheduled.items() if scheduled.handle.done()}
        for key in done:
            del self._scheduled[key]
        return [scheduled.handle for scheduled in done.values()]

    def abandon(self) -> None:
        """Give up what is scheduled."""
        for scheduled in self._scheduled.values():
            scheduled.handle.cancel()
        self._scheduled.clear()
