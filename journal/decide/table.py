"""The table of turn commands: what each does in each phase.

Rule: a combination that is not listed is rejected. Reading this file is reading the semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turnwright.journal.commands import (
    CancelTurn,
    PauseTurn,
    Reconcile,
    Rejection,
    Respond,
    ResumeTurn,
    RetryTurn,
    Steer,
    TurnCommand,
)
from turnwright.journal.decide import answers
from turnwright.journal.decide import turn_rules as rules
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.turn_status import Phase, TurnStatus

TurnRule = Callable[[Context, TurnStatus, Any], Decision]

TABLE: Mapping[tuple[type[TurnCommand], Phase], TurnRule] = {
    (Steer, "queued"): rules.steer,
    (Steer, "running"): rules.steer,
    (Steer, "waiting"): rules.steer,
    (PauseTurn, "queued"): rules.pause_at_once,
    (PauseTurn, "running"): rules.request_pause,
    (PauseTurn, "waiting"): rules.pause_at_once,
    (ResumeTurn, "queued"): rules.resume,
    (ResumeTurn, "running"): rules.resume,
    (ResumeTurn, "waiting"): rules.resume,
    (CancelTurn, "queued"): rules.cancel_queued_turn,
    (CancelTurn, "running"): rules.request_cancel,
    (CancelTurn, "waiting"): rules.request_cancel,
    (CancelTurn, "cancelling"): rules.accept_without_effect,
    (Respond, "running"): answers.respond,
    (Respond, "waiting"): answers.respond,
    (Reconcile, "running"): rules.reconcile,
    (Reconcile, "waiting"): rules.reconcile,
    (RetryTurn, "failed"): rules.retry,
}


def decide_turn_command(context: Context, command: TurnCommand) -> Decision:
    """Look the command up by the turn's phase."""
    status = context.status(command.turn_id)
    if status is None:
        return Rejection("unknown_turn", f"there is no turn {command.turn_id} on this thread")
    rule = TABLE.get((type(command), status.phase))
    if rule is None:
        wrong = Rejection("wrong_phase", f"the turn cannot be {command.DONE}: it is {status.phase}")
        return _too_late(context, command) or wrong
    return rule(context, status, command)


def _too_late(context: Context, command: TurnCommand) -> Rejection | None:
    """What matters more to whoever answers than that the turn went on meanwhile: somebody else has answered."""
    match command:
        case Respond():
            return answers.too_late(context)
        case Reconcile():
            return rules.reconciled_already(context, command)
        case _:
            return None
