"""What the specification says of a command, from what an auditor knows of the thread."""

from __future__ import annotations

from tests.unit.journal.audit_ledger import used_up
from tests.unit.journal.audit_turns import Call, Turn
from tests.unit.journal.auditor import Auditor
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelTurn,
    PauseTurn,
    Reconcile,
    Respond,
    ResumeTurn,
    RetryTurn,
    Steer,
    TurnCommand,
)
from turnwright.journal.control import SessionControl

POSSIBLE: dict[type[TurnCommand], tuple[str, ...]] = {
    Steer: ("queued", "running", "waiting"),
    PauseTurn: ("queued", "running", "waiting"),
    ResumeTurn: ("queued", "running", "waiting"),
    CancelTurn: ("queued", "running", "waiting", "cancelling"),
    Respond: ("running", "waiting"),
    Reconcile: ("running", "waiting"),
    RetryTurn: ("failed",),
}


# How each kind of question is answered; a resolution that is not listed is no answer.
WAYS: dict[str, tuple[str, ...]] = {
    "approval": ("approve", "deny"),
    "form": ("answer", "decline"),
    "external": ("succeeded", "failed"),
    "budget": ("raise", "fail"),
}


def expected(command: TurnCommand, audit: Auditor, session: SessionControl) -> str | None:
    """The code with which the command must be rejected; None when it must be accepted."""
    turn = audit.turns[command.turn_id]
    if turn.phase not in POSSIBLE[type(command)]:
        return _too_late(command, audit) or "wrong_phase"
    match command:
        case PauseTurn():
            return None if turn.pause == "none" else "already_paused"
        case ResumeTurn(revision=revision):
            return _resume(turn, revision)
        case Respond():
            return _respond(turn, command, audit, session)
        case Reconcile(call_id=call_id):
            known = turn.calls.get(call_id)
            return None if known is not None and known.unknown and known.open else "not_unknown"
        case RetryTurn(turn_id=turn_id):
            if audit.retriable != turn_id:
                return "later_turn_started"
            return "closed" if audit.closed or session.closed else None
        case _:
            return None


def _too_late(command: TurnCommand, audit: Auditor) -> str | None:
    """Whoever answers what somebody else has answered hears that, whatever became of the turn."""
    match command:
        case Respond(interaction_id=name, turn_id=turn_id):
            how, of_turn = audit.settled.get(name, ("cancelled", ""))
            late = {"resolved": "already_answered", "expired": "expired"}.get(how)
            return late if of_turn == turn_id else None
        case Reconcile(call_id=call_id):
            return "not_unknown" if audit.reconciled.get(call_id, "cancelled") != "cancelled" else None
        case _:
            return None


def _resume(turn: Turn, revision: int) -> str | None:
    if turn.pause == "none":
        return "not_paused"
    return None if revision == turn.revision else "stale_revision"


def _respond(turn: Turn, command: Respond, audit: Auditor, session: SessionControl) -> str | None:
    kind, call_id = turn.questions.get(command.interaction_id, ("", None))
    if not kind:
        how, of_turn = audit.settled.get(command.interaction_id, ("", ""))
        if of_turn != command.turn_id:
            return "unknown_interaction"
        return "expired" if how == "expired" else "already_answered"
    if kind == "unknown_outcome":
        return "needs_reconcile"
    if command.resolution not in WAYS[kind]:
        return "bad_answer"
    match command.resolution:
        case "approve":
            return _approve(turn.calls[call_id or ""], call_id or "", command, audit)
        case "raise":
            return _raise(audit.scopes[command.interaction_id], command, audit, session)
        case _:
            return None


def _approve(call: Call, call_id: str, command: Respond, audit: Auditor) -> str | None:
    edited = command.answer.get("arguments")
    if call.name == "refund" and edited is not None and set(edited) != {"amount"}:
        return "invalid_arguments"
    arguments = audit.guard.arguments[call_id] if edited is None else edited
    return "forbidden" if audit.guard.forbids(call.name, call.effect, arguments) else None


def _raise(scope: str, command: Respond, audit: Auditor, session: SessionControl) -> str | None:
    if scope == "session":
        budget, used = session.budget, audit.ledger.together
    else:
        ledger, named = audit.ledger, command.answer.get("budget")
        used, now = (ledger.of_this_turn, ledger.of_turn) if scope == "turn" else (ledger.thread, ledger.whole)
        budget = None if named is None else Budget.model_validate(now.model_dump() | named)
    over = () if budget is None else used_up(budget, used, audit.over[command.interaction_id])
    return "still_over_budget" if over else None
