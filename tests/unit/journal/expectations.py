"""What the specification's table says of a command, from what an auditor knows of the thread."""

from __future__ import annotations

from tests.unit.journal.auditor import Auditor, Turn
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


def expected(command: TurnCommand, audit: Auditor, session: SessionControl) -> str | None:
    """The code with which the command must be rejected; None when it must be accepted."""
    turn = audit.turns[command.turn_id]
    if turn.phase not in POSSIBLE[type(command)]:
        return "wrong_phase"
    match command:
        case PauseTurn():
            return None if turn.pause == "none" else "already_paused"
        case ResumeTurn(revision=revision):
            return _resume(turn, revision)
        case Respond(interaction_id=question):
            return _respond(turn, question)
        case Reconcile(call_id=call_id):
            known = turn.calls.get(call_id)
            return None if known is not None and known.unknown and known.open else "not_unknown"
        case RetryTurn(turn_id=turn_id):
            if audit.retriable != turn_id:
                return "later_turn_started"
            return "closed" if audit.closed or session.closed else None
        case _:
            return None


def _resume(turn: Turn, revision: int) -> str | None:
    if turn.pause == "none":
        return "not_paused"
    return None if revision == turn.revision else "stale_revision"


def _respond(turn: Turn, question: str) -> str | None:
    if question not in turn.questions:
        return "not_open"
    return "needs_reconcile" if turn.questions[question][0] == "unknown_outcome" else None
