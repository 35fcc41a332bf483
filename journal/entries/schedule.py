"""Entries about schedules: what they are in the session's log, what became of a tick in the thread's."""

from __future__ import annotations

from typing import ClassVar

from turnwright.journal.entries.base import ByPrincipal, Payload
from turnwright.journal.schedules import Definition


class ScheduleCreated(ByPrincipal):
    """A schedule exists from here on; its number in the log tells it from others of its name."""

    TYPE: ClassVar[str] = "schedule.created"
    definition: Definition


class SchedulePaused(ByPrincipal):
    """No tick of it is taken until it is resumed."""

    TYPE: ClassVar[str] = "schedule.paused"
    name: str


class ScheduleResumed(ByPrincipal):
    """Its ticks are taken again from here on."""

    TYPE: ClassVar[str] = "schedule.resumed"
    name: str


class ScheduleDeleted(ByPrincipal):
    """It is no more; its name may be used again."""

    TYPE: ClassVar[str] = "schedule.deleted"
    name: str


class ScheduleTicked(Payload):
    """A time of a schedule came: the entry's turn was queued for it, or `code` and `reason` say why none was."""

    TYPE: ClassVar[str] = "schedule.ticked"
    REQUIRED: ClassVar[bool] = False
    name: str
    generation: int
    due_us: int
    by_hand: bool = False
    code: str | None = None
    reason: str | None = None
