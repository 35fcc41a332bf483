"""Commands to a session's schedules, and the one that a tick of one is to its thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from turnwright.journal.commands.base import ClientCommand
from turnwright.journal.commands.turn import Submit
from turnwright.journal.schedules import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSchedule(ClientCommand):
    """Submit a turn again and again."""

    definition: Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSchedule(ClientCommand):
    """Take no tick of it until it is resumed."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSchedule(ClientCommand):
    """Take its ticks again; those that came meanwhile stay out."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSchedule(ClientCommand):
    """Let it be no more; the turns it submitted go on."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSchedule(ClientCommand):
    """Submit its turn now, as if its time had come, also while it is paused."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeTick(Submit):
    """Submit the turn of a tick, or record why not. `due_us` 0: somebody triggered it, so it is due now."""

    name: str
    generation: int
    catch_up_s: int
    due_us: int = 0


ScheduleCommand: TypeAlias = CreateSchedule | PauseSchedule | ResumeSchedule | DeleteSchedule
