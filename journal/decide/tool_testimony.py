"""Testimony about tool calls: finished, given up, or settled by the tool's own reconcile hook.

Rule: the first definite result closes the call, whoever brings it, even after the attempt was given up;
a later one is kept as late. A result that arrives while a person is asked settles the question.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.advance import unknown_outcome
from turnwright.journal.commands import FinishTool, Rejection, SettleCall
from turnwright.journal.control import ActiveTurn, CallOperation
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.entries import (
    Draft,
    InteractionResolved,
    Payload,
    ToolFinished,
    ToolLate,
    ToolReconciled,
)


def finish_tool(context: Context, command: FinishTool) -> Decision:
    """Apply the result, or keep it as late."""
    active, call = _call_of(context, command)
    if active is None or call is None or call.state == "closed":
        return _late(command)
    definite = command.outcome not in ("lost", "drained", "interrupted")
    if not definite and (call.claim is None or call.ordinal != command.ordinal):
        return []
    payload = ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=command.ordinal,
        outcome=command.outcome,
        output=command.output,
        duration_ms=command.duration_ms,
        effect_unknown=command.effect_unknown,
    )
    finished = _draft(command, command.outcome if command.outcome in ("lost", "drained") else "finished", payload)
    return [finished, *_answers_question(active, call, finished, definite=definite)]


def settle_call(context: Context, command: SettleCall) -> Decision:
    """Record what the hook knows; when it does not know either, a person is asked."""
    active, call = _call_of(context, command)
    if active is None or call is None or call.state != "unknown" or active.asked_about(call.call_id):
        return Rejection("not_unknown", "the outcome of the call is not in question")
    if command.outcome == "unknown":
        return [unknown_outcome(active, call.call_id)]
    payload = ToolReconciled(
        call_id=call.call_id,
        name=call.name,
        outcome=command.outcome,
        output=command.output,
        by="hook",
        principal="reconcile hook",
    )
    return [_draft(command, "reconciled", payload)]


def _call_of(context: Context, command: FinishTool | SettleCall) -> tuple[ActiveTurn | None, CallOperation | None]:
    active = context.control.turn(command.turn_id)
    if active is None or active.step != command.step:
        return active, None
    return active, active.call(command.call_id)


def _answers_question(active: ActiveTurn, call: CallOperation, finished: Draft, *, definite: bool) -> list[Draft]:
    question = active.asked_about(call.call_id)
    if question is None or not definite:
        return []
    payload = InteractionResolved(
        interaction_id=question.interaction_id, resolution="result_arrived", principal="testimony"
    )
    return [Draft(entry_ids.caused(finished.entry_id, 0), payload, turn_id=active.turn_id)]


def _late(command: FinishTool) -> list[Draft]:
    if command.outcome in ("lost", "drained"):
        return []
    payload = ToolLate(
        call_id=command.call_id,
        name="",
        ordinal=command.ordinal,
        outcome=command.outcome,
        output=command.output,
        duration_ms=command.duration_ms,
    )
    return [_draft(command, "late", payload)]


def _draft(command: FinishTool | SettleCall, what: str, payload: Payload) -> Draft:
    entry_id = entry_ids.tool(command.turn_id, command.step, command.call_id, command.ordinal, what)
    return Draft(entry_id, payload, turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch)
