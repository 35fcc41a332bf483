"""Testimony about tool calls: finished, given up, or settled by the tool's own reconcile hook.

Rule: the first definite result closes the call, whoever brings it, even after the attempt was given up;
a later one is kept as late. A result that arrives while a person is asked settles the question, one that
comes after the attempt was written off ("run again") is late. Everything else ends only the attempt that
says so: `interrupted` closes the call when its turn is being cancelled, and hands it over otherwise.
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
from turnwright.journal.entries.operation import ToolOutcome

NO_CLAIM = Rejection("no_claim", "no attempt of this number ever claimed the call")
_DEFINITE = frozenset({"success", "error", "denied"})


def finish_tool(context: Context, command: FinishTool) -> Decision:
    """Apply the result, keep it as late, or end the attempt."""
    active, call = _call_of(context, command)
    if active is not None and call is not None and not 1 <= command.ordinal <= call.ordinal:
        return NO_CLAIM
    if command.outcome not in _DEFINITE:
        current = call is not None and call.claim is not None and call.ordinal == command.ordinal
        return [_attempt_over(active, command)] if active is not None and current else []
    if active is None or call is None or call.state == "closed" or command.ordinal <= call.written_off:
        return [_late(call, command)]
    finished = _draft(command, "finished", _finished(call, command, command.outcome))
    return [finished, *_answers_question(active, call, finished)]


def _attempt_over(active: ActiveTurn, command: FinishTool) -> Draft:
    """An attempt that brings no result: what it says is recorded as what it means."""
    call = active.call(command.call_id)
    assert call is not None, "the attempt is the current one"
    if command.outcome == "interrupted" and active.status.phase == "cancelling":
        return _draft(command, "finished", _finished(call, command, "interrupted"))
    handed_over = command.outcome in ("drained", "interrupted")
    outcome: ToolOutcome = "drained" if handed_over else "lost"
    return _draft(command, outcome, _finished(call, command, outcome))


def _finished(call: CallOperation, command: FinishTool, outcome: ToolOutcome) -> ToolFinished:
    return ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=command.ordinal,
        outcome=outcome,
        output=command.output,
        duration_ms=command.duration_ms,
        effect_unknown=command.effect_unknown,
    )


def settle_call(context: Context, command: SettleCall) -> Decision:
    """Record what the hook knows; when it does not know either, a person is asked."""
    active, call = _call_of(context, command)
    if active is None or call is None or call.state != "unknown" or active.asked_about(call.call_id):
        return Rejection("not_unknown", "the outcome of the call is not in question")
    if command.ordinal != call.ordinal:
        return Rejection("not_unknown", "another attempt of the call is in question now")
    if command.outcome == "unknown":
        cancelling = active.status.phase == "cancelling"
        return [] if cancelling else [unknown_outcome(active, call.call_id)]
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


def _answers_question(active: ActiveTurn, call: CallOperation, finished: Draft) -> list[Draft]:
    question = active.asked_about(call.call_id)
    if question is None:
        return []
    payload = InteractionResolved(
        interaction_id=question.interaction_id, resolution="result_arrived", principal="testimony"
    )
    return [Draft(entry_ids.caused(finished.entry_id, 0), payload, turn_id=active.turn_id)]


def _late(call: CallOperation | None, command: FinishTool) -> Draft:
    payload = ToolLate(
        call_id=command.call_id,
        name="" if call is None else call.name,
        ordinal=command.ordinal,
        outcome=command.outcome,
        output=command.output,
        duration_ms=command.duration_ms,
    )
    return _draft(command, "late", payload)


def _draft(command: FinishTool | SettleCall, what: str, payload: Payload) -> Draft:
    entry_id = entry_ids.tool(command.turn_id, command.step, command.call_id, command.ordinal, what)
    return Draft(entry_id, payload, turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch)
