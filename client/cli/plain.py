"""Handles and rows as JSON: ids in full, times in microseconds and as ISO text in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from turnwright.client.questions import Question
from turnwright.client.spending import SessionSpending, ThreadSpending
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.journal.acts import Act, Level
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.commands import Receipt
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Entry
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Message
from turnwright.journal.shown import ShownStatus
from turnwright.journal.transact.listing import TurnSeen
from turnwright.journal.transact.overview import Begins, SessionSeen, ThreadSeen
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.searching import SearchHit
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.why import Why


def session_key(key: SessionKey | ThreadKey) -> dict[str, Any]:
    """Whose session it is."""
    return {"tenant": key.tenant, "user": key.user, "session": key.session}


def thread_key(key: ThreadKey) -> dict[str, Any]:
    """Which thread it is."""
    return session_key(key) | {"agent": key.agent, "thread": key.thread}


def receipt(given: Receipt) -> dict[str, Any]:
    """What became of a command."""
    return {"receipt": asdict(given)}


def turn_view(view: TurnView) -> dict[str, Any]:
    """A turn with what it is asked, and who stopped it."""
    questions = [question.model_dump(mode="json") for question in view.questions]
    return _turn(view.key, view.row, view.status) | {
        "ahead": view.ahead,
        "held_by": _acts(view.held_by),
        "cancelled_by": _act(view.cancelled_by),
        "questions": questions,
        "children": [turn_view(child) for child in view.children],
        "children_unseen": view.children_unseen,
    }


def turn_report(report: TurnReport) -> dict[str, Any]:
    """A turn with what it was asked, did, used and said."""
    return turn_view(report.view) | {
        "submitted_by": _act(report.submitted),
        "input": _message(report.input),
        "steered": [_message(message) for message in report.steered],
        "steps": report.steps,
        "model_attempts": report.model_attempts,
        "tool_attempts": report.tool_attempts,
        "usage": report.usage.model_dump(mode="json"),
        "answer": _message(report.answer),
        "late": [entry(late) for late in report.late],
        "why": why(report.why),
    }


def search_hit(hit: SearchHit) -> dict[str, Any]:
    """What was found, where, and why."""
    return thread_key(hit.key) | {
        "turn_id": hit.turn_id,
        "seq": hit.seq,
        "role": hit.role,
        "at": iso(hit.at_us),
        "rank": hit.rank,
        "snippet": [asdict(part) for part in hit.snippet],
    }


def why(told: Why) -> dict[str, Any]:
    """What a turn waits for."""
    return {"code": told.code, "text": told.text, "since": iso(told.since_us), "until": iso(told.until_us)}


def _message(message: Message | None) -> dict[str, Any] | None:
    return None if message is None else message.model_dump(mode="json")


def _acts(acts: Mapping[Level, Act]) -> dict[str, Any]:
    return {level: _act(act) for level, act in acts.items()}


def _act(act: Act | None) -> dict[str, Any] | None:
    return None if act is None else {"principal": act.principal, "at": iso(act.at_us), "reason": act.reason}


def question(given: Question) -> dict[str, Any]:
    """A question with what is asked, and the commands that answer it."""
    times = {f"{name}_at": iso(getattr(given, f"{name}_us")) for name in ("asked", "started", "deadline", "settled")}
    return {
        "interaction_id": given.interaction_id,
        "kind": given.kind,
        "state": given.state,
        "turn_id": given.turn_id,
        **thread_key(given.key),
        "call_id": given.call_id,
        "tool": given.tool,
        "asked": dict(given.asked),
        "large": given.large,
        "called_with": None if given.called_with is None else dict(given.called_with),
        "idempotency_key": given.idempotency_key,
        "scope": given.scope,
        "over": list(given.over),
        "deadline_us": given.deadline_us,
        "on_expiry": given.on_expiry,
        "resolution": given.resolution,
        "principal": given.principal,
        "parent": None if given.parent is None else given.parent.model_dump(mode="json"),
        "answers": list(given.answers),
        **times,
    }


def turn_seen(seen: TurnSeen) -> dict[str, Any]:
    """A turn of a list."""
    return _turn(seen.key, seen.status, seen.shown) | {"input": seen.input, "unreadable": seen.unreadable or None}


def _turn(key: ThreadKey, row: TurnStatus, shown: ShownStatus) -> dict[str, Any]:
    times = {f"{name}_at": iso(getattr(row, f"{name}_at_us")) for name in ("queued", "started", "ended")}
    return {"turn_id": row.turn_id, "status": shown} | thread_key(key) | row.model_dump(mode="json") | times


def thread_seen(seen: ThreadSeen) -> dict[str, Any]:
    """A thread with its head and its queue."""
    return thread_key(seen.key) | {
        "seq": seen.seq,
        "last_at": iso(seen.last_at_us),
        "closed": seen.control.closed,
        "pause": seen.control.pause.model_dump(mode="json"),
        "session_pause": seen.session.pause.model_dump(mode="json"),
        "held_by": _acts(seen.held_by),
        "on_failure": seen.control.on_failure,
        "mode": seen.control.permissions.mode,
        "planning": seen.control.planning,
        "queued": seen.control.queued,
        "active_turn": head_of(seen.control),
        "begins": None if seen.begins is None else _begins(seen.begins),
        "forks": seen.forks,
        "unreadable": seen.unreadable or None,
    }


def _begins(begins: Begins) -> dict[str, Any]:
    return {"seq": begins.seq, "at_seq": begins.at_seq} | thread_key(begins.thread)


def session_seen(seen: SessionSeen) -> dict[str, Any]:
    """A session and what is in it."""
    return session_key(seen.key) | {
        "title": seen.control.title,
        "summary": seen.control.summary or None,
        "state": session_state(seen.control),
        "pause": seen.control.pause.model_dump(mode="json"),
        "held_by": _acts(seen.held_by),
        "closed": seen.control.closed,
        "created_at": iso(seen.created_us),
        "last_at": iso(seen.last_at_us),
        "last_position": seen.last_position,
        "threads": seen.threads,
        "active": seen.active,
        "queued": seen.queued,
        "unreadable": seen.unreadable or None,
    }


def thread_spending(spending: ThreadSpending) -> dict[str, Any]:
    """What a thread and its turns may use and have used."""
    turn = spending.turn
    return {
        "budget": _bounds(spending.budget),
        "used": _use(spending.used),
        "turns": _bounds(spending.turns),
        "turn": None
        if turn is None
        else {"turn_id": turn.turn_id, "budget": _bounds(turn.budget), "used": _use(turn.used)},
    }


def session_spending(spending: SessionSpending) -> dict[str, Any]:
    """What a session may use and has used."""
    return {"budget": _bounds(spending.budget), "used": None if spending.used is None else _use(spending.used)}


def _bounds(budget: Budget | None) -> dict[str, Any] | None:
    """A budget without what is not bounded; None when nothing is."""
    return None if budget is None else budget.model_dump(mode="json", exclude_none=True) or None


def _use(used: Used) -> dict[str, Any]:
    return used.model_dump(mode="json")


def entry(given: Entry) -> dict[str, Any]:
    """An entry, whole."""
    return given.as_json()


def located(given: Located) -> dict[str, Any]:
    """An entry of a session's timeline; the session's own have no agent and no thread."""
    return {"agent": given.thread.agent or None, "thread": given.thread.thread or None} | entry(given.entry)


def head_of(control: ThreadControl) -> str | None:
    """The active turn of a thread."""
    return None if control.active is None else control.active.turn_id


def session_state(control: SessionControl) -> str:
    """One word for a session."""
    return "closed" if control.closed else "paused" if control.pause.on else "open"


def iso(at_us: int | None) -> str | None:
    """A time of the store, in UTC."""
    return None if at_us is None else datetime.fromtimestamp(at_us / SECOND_US, UTC).isoformat()
