"""`evolve` for SessionControl. Rule: a table; an unlisted type changes only `seq`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnwright.journal.control import PauseFlag, SessionControl
from turnwright.journal.entries import (
    Entry,
    SessionBudgetChanged,
    SessionCancelled,
    SessionClosed,
    SessionCreated,
    SessionPaused,
    SessionResumed,
)


def evolve_session(control: SessionControl, entry: Entry) -> SessionControl:
    """The session's control after an entry of its log."""
    change = _SESSION.get(type(entry.payload))
    update = {} if change is None else change(control, entry, entry.payload)
    return control.model_copy(update={"seq": entry.seq} | update)


def _closed(control: SessionControl, entry: Entry, payload: SessionClosed) -> dict[str, Any]:
    return {"closed": True} | (_cancelled(control, entry, payload) if payload.mode == "cancel" else {})


def _cancelled(_: SessionControl, entry: Entry, payload: SessionCancelled | SessionClosed) -> dict[str, Any]:
    return {"cancelled_seq": entry.seq, "cancelled_by": payload.principal, "cancel_reason": payload.reason}


_SESSION: dict[type, Callable[[SessionControl, Entry, Any], dict[str, Any]]] = {
    SessionCreated: lambda _, __, p: {"created": True, "title": p.title},
    SessionPaused: lambda _, e, p: {"pause": PauseFlag(on=True, revision=p.revision, seq=e.seq)},
    SessionResumed: lambda _, __, p: {"pause": PauseFlag(on=False, revision=p.revision)},
    SessionCancelled: _cancelled,
    SessionClosed: _closed,
    SessionBudgetChanged: lambda _, __, p: {"budget": p.budget if p.budget.bounded else None},
}
