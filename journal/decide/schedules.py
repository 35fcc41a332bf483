"""What becomes of commands to a session's schedules, and of a tick of one.

Rule: a tick that gives no turn is recorded with the reason, on the thread its turn would have been on.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnwright.journal import entry_ids
from turnwright.journal.commands import (
    CreateSchedule,
    DeleteSchedule,
    IfBusy,
    PauseSchedule,
    Rejection,
    ResumeSchedule,
    ScheduleCommand,
    TakeTick,
)
from turnwright.journal.control import Scheduled, SessionControl
from turnwright.journal.decide.context import Context, Decision, who_asked
from turnwright.journal.decide.thread_rules import submit
from turnwright.journal.durations import SECOND_US, human
from turnwright.journal.entries import (
    Draft,
    Payload,
    ScheduleCreated,
    ScheduleDeleted,
    SchedulePaused,
    ScheduleResumed,
    ScheduleTicked,
)
from turnwright.journal.schedules import Overlap

SCHEDULES_OF_A_SESSION_MAX = 50
IF_BUSY: Mapping[Overlap, IfBusy] = {"skip": "reject", "queue": "enqueue", "interrupt": "interrupt"}
UNKNOWN_SCHEDULE = Rejection("unknown_schedule", "the session has no schedule of that name")


def decide_schedule(control: SessionControl, command: ScheduleCommand) -> Payload | Rejection:
    """May this happen to the session's schedules, and what does it record?"""
    who = who_asked(command)
    if isinstance(command, CreateSchedule):
        refused = _cannot_create(control, command)
        return refused or ScheduleCreated(definition=command.definition, **who)
    scheduled = control.schedules.get(command.name)
    if scheduled is None:
        return UNKNOWN_SCHEDULE
    match command:
        case PauseSchedule(name=name):
            if scheduled.paused:
                return Rejection("already_paused", "the schedule is paused already")
            return SchedulePaused(name=name, **who)
        case ResumeSchedule(name=name):
            if not scheduled.paused:
                return Rejection("not_paused", "the schedule itself is not paused")
            return ScheduleResumed(name=name, **who)
        case DeleteSchedule(name=name):
            return ScheduleDeleted(name=name, **who)


def _cannot_create(control: SessionControl, command: CreateSchedule) -> Rejection | None:
    if control.closed:
        return Rejection("session_closed", "the session is closed")
    if command.definition.name in control.schedules:
        return Rejection("schedule_exists", "the session has a schedule of that name; delete it, or choose another")
    if len(control.schedules) >= SCHEDULES_OF_A_SESSION_MAX:
        return Rejection("too_many_schedules", f"a session has at most {SCHEDULES_OF_A_SESSION_MAX} schedules")
    return None


def take_tick(context: Context, command: TakeTick) -> Decision:
    """Queue the turn of a tick, or record why it is not; one of a schedule that is no more leaves no trace."""
    scheduled = context.session.schedules.get(command.name)
    if scheduled is None or scheduled.generation != command.generation:
        return UNKNOWN_SCHEDULE
    now_us = context.facts.now_us
    ticked = ScheduleTicked(
        name=command.name,
        generation=command.generation,
        due_us=command.due_us or now_us,
        by_hand=not command.due_us,
    )
    decision = _let_go(scheduled, command, now_us) or submit(context, command)
    if isinstance(decision, Rejection):
        skipped = ticked.model_copy(update={"code": decision.code, "reason": decision.reason})
        return [Draft(entry_ids.command(command.request_id, 0), skipped)]
    return [*decision, Draft(entry_ids.command(command.request_id, 1), ticked, turn_id=command.turn_id)]


def _let_go(scheduled: Scheduled, command: TakeTick, now_us: int) -> Rejection | None:
    """Why the schedule itself gives no turn for a tick, whatever the thread does."""
    if not command.due_us:
        return None
    if scheduled.paused or scheduled.paused_us <= command.due_us < scheduled.resumed_us:
        return Rejection("schedule_paused", "the schedule was paused when its time came")
    late_us = now_us - command.due_us
    if late_us > command.catch_up_s * SECOND_US:
        return Rejection("too_late", f"it came {human(late_us)} late; up to {command.catch_up_s} s are caught up")
    return None
