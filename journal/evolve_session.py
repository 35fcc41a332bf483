"""`evolve` for SessionControl. Rule: a table; an unlisted type changes only `seq`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnwright.journal.control import PauseFlag, Scheduled, SessionControl
from turnwright.journal.entries import (
    Entry,
    ScheduleCreated,
    ScheduleDeleted,
    SchedulePaused,
    ScheduleResumed,
    SessionBudgetChanged,
    SessionCancelled,
    SessionClosed,
    SessionCreated,
    SessionImported,
    SessionNotDescribed,
    SessionPaused,
    SessionResumed,
    SessionSummarised,
    SessionTitled,
)

DESCRIBED = {"undescribed": 0, "undescribed_seq": 0}


def evolve_session(control: SessionControl, entry: Entry) -> SessionControl:
    """The session's control after an entry of its log."""
    change = _SESSION.get(type(entry.payload))
    update = {} if change is None else change(control, entry, entry.payload)
    return control.model_copy(update={"seq": entry.seq} | update)


def _closed(control: SessionControl, entry: Entry, payload: SessionClosed) -> dict[str, Any]:
    return {"closed": True, "schedules": {}} | (_cancelled(control, entry, payload) if payload.mode == "cancel" else {})


def _cancelled(_: SessionControl, entry: Entry, payload: SessionCancelled | SessionClosed) -> dict[str, Any]:
    return {"cancelled_seq": entry.seq, "cancelled_by": payload.principal, "cancel_reason": payload.reason}


def _titled(_: SessionControl, __: Entry, payload: SessionTitled) -> dict[str, Any]:
    return {"title": payload.title} | ({} if payload.made_of is None else DESCRIBED)


def _not_described(control: SessionControl, _: Entry, payload: SessionNotDescribed) -> dict[str, Any]:
    return {"undescribed": control.undescribed + 1, "undescribed_seq": payload.made_of.through_seq}


def _scheduled(control: SessionControl, entry: Entry, payload: ScheduleCreated) -> dict[str, Any]:
    made = Scheduled(generation=entry.seq, created_us=entry.at_us, changed_us=entry.at_us)
    return {"schedules": control.schedules | {payload.definition.name: made}}


def _held(control: SessionControl, entry: Entry, payload: SchedulePaused | ScheduleResumed) -> dict[str, Any]:
    before = control.schedules.get(payload.name)
    if before is None:
        return {}
    return {
        "schedules": control.schedules
        | {payload.name: _turned(before, entry, paused=isinstance(payload, SchedulePaused))}
    }


def _all_held(control: SessionControl, entry: Entry, _: SessionImported) -> dict[str, Any]:
    """Where the session came from its schedules may go on, and a copy of them must not come beside them."""
    return {"schedules": {name: _turned(one, entry, paused=True) for name, one in control.schedules.items()}}


def _turned(one: Scheduled, entry: Entry, *, paused: bool) -> Scheduled:
    since = {"paused_us" if paused else "resumed_us": entry.at_us}
    return one.model_copy(update={"paused": paused, "changes": one.changes + 1, "changed_us": entry.at_us} | since)


def _dropped(control: SessionControl, _: Entry, payload: ScheduleDeleted) -> dict[str, Any]:
    return {"schedules": {name: one for name, one in control.schedules.items() if name != payload.name}}


_SESSION: dict[type, Callable[[SessionControl, Entry, Any], dict[str, Any]]] = {
    SessionCreated: lambda _, __, p: {"created": True, "title": p.title},
    SessionTitled: _titled,
    SessionSummarised: lambda _, __, p: {"summary": p.summary, "summarised_seq": p.made_of.through_seq} | DESCRIBED,
    SessionNotDescribed: _not_described,
    SessionPaused: lambda _, e, p: {"pause": PauseFlag(on=True, revision=p.revision, seq=e.seq)},
    SessionResumed: lambda _, __, p: {"pause": PauseFlag(on=False, revision=p.revision)},
    SessionCancelled: _cancelled,
    SessionClosed: _closed,
    SessionImported: _all_held,
    ScheduleCreated: _scheduled,
    SchedulePaused: _held,
    ScheduleResumed: _held,
    ScheduleDeleted: _dropped,
    SessionBudgetChanged: lambda _, __, p: {"budget": p.budget if p.budget.bounded else None},
}
