"""Testimony about tool calls: finished, given up, or settled by the tool's own reconcile hook.

Rule: the first definite result closes the call, whoever brings it, even after the attempt was given up;
a later one is kept as late. A result that arrives while a person is asked settles the question, one that
comes after the attempt was written off ("run again") is late. Everything else ends only the attempt that
says so: `interrupted` closes the call when its turn is being cancelled, and hands it over otherwise.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.advance import unknown_outcome
from turnwright.journal.commands import Ask, FinishTool, Rejection, SettleCall, Spawn
from turnwright.journal.control import ActiveTurn, CallOperation
from turnwright.journal.decide.admin import tool_groups
from turnwright.journal.decide.children import spawned, started_text
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.entries import (
    Draft,
    InteractionRequested,
    InteractionResolved,
    Payload,
    ToolDecided,
    ToolFinished,
    ToolLate,
    ToolReconciled,
)
from turnwright.journal.entries.operation import ToolOutcome
from turnwright.journal.messages import Text
from turnwright.journal.state_ops import TRUSTED, Refusal, apply_ops

NO_CLAIM = Rejection("no_claim", "no attempt of this number ever claimed the call")
_DEFINITE = frozenset({"success", "error", "denied"})


def finish_tool(context: Context, command: FinishTool) -> Decision:
    """Apply the result, keep it as late, or end the attempt."""
    active, call = _call_of(context, command)
    if active is not None and call is not None and not 1 <= command.ordinal <= call.ordinal:
        return NO_CLAIM
    current = call is not None and call.claim is not None and call.ordinal == command.ordinal
    if command.asks is not None or command.spawns is not None:
        if active is None or call is None or not current:
            return [_late(call, command)]
        return _elsewhere(context, active, call, command)
    if command.outcome not in _DEFINITE:
        return [_attempt_over(active, command)] if active is not None and current else []
    if active is None or call is None or call.state == "closed" or command.ordinal <= call.written_off:
        return [_late(call, command)]
    return _with_result(context, active, call, command)


def _with_result(context: Context, active: ActiveTurn, call: CallOperation, command: FinishTool) -> list[Draft]:
    """The result, with what it changes of the thread's state; a change that is refused makes it an error."""
    changes = _changes(context, command)
    if isinstance(changes, Refusal):
        payload = _says(call, command, "error", Text(text=changes.message))
        changes = []
    else:
        payload = _finished(call, command, command.outcome)
    finished = _draft(command, "finished", payload)
    answered = _answers_question(active, call, finished)
    return [finished, *answered, *_caused(finished, changes, len(answered))]


def _changes(context: Context, command: FinishTool) -> list[Payload] | Refusal:
    """What the call's operations on the thread's state record; one that is refused refuses all."""
    if not command.ops:
        return []
    if any(isinstance(op, TRUSTED) for op in command.ops):
        return Refusal("Only a trusted caller may do that.")
    state = context.facts.state
    assert state is not None, "the transaction loads it for a call that changes it"
    by = f"tool:{command.call_id}"
    changes = apply_ops(command.ops, state, tool_groups(state), by=by, at=context.facts.now.isoformat())
    if isinstance(changes, Refusal):
        return changes
    return [change.model_copy(update={"principal": by}) for change in changes]


def _elsewhere(context: Context, active: ActiveTurn, call: CallOperation, command: FinishTool) -> list[Draft]:
    """The attempt is over without a result of its own."""
    if command.spawns is not None:
        return _opened(context, active, call, command, command.spawns)
    assert command.asks is not None, "it is one of both"
    return _deferred(context, active, call, command, command.asks)


def _deferred(context: Context, active: ActiveTurn, call: CallOperation, command: FinishTool, ask: Ask) -> list[Draft]:
    """The attempt is over, and its result comes as the answer to a question."""
    finished = _draft(command, "deferred", _finished(call, command, "deferred"))
    deadline_s, on_expiry = ask.deadline_s, ask.on_expiry
    if ask.kind == "approval":
        deadline_s, on_expiry = context.control.approvals.deadline_s, context.control.approvals.on_expiry
    question = InteractionRequested(
        interaction_id=entry_ids.interaction(call.call_id, call.ordinal),
        kind=ask.kind,
        call_id=call.call_id,
        arguments_digest=call.digest,
        asked={"tool": call.name, "call_id": call.call_id} | ask.asked,
        deadline_us=context.facts.due_us(deadline_s),
        on_expiry=on_expiry or (None if deadline_s is None else "expired"),
        parent=active.status.parent,
        again=ask.again,
    )
    decided = [_asks(call)] if ask.kind == "approval" else []
    return [finished, *_caused(finished, [*decided, question], 0)]


def _asks(call: CallOperation) -> ToolDecided:
    """The tool itself wants its call approved, as if the permissions had asked."""
    return ToolDecided(
        call_id=call.call_id,
        name=call.name,
        decision="ask",
        source="tool",
        effect=call.effect,
        arguments_digest=call.digest,
        reconcilable=call.reconcilable,
    )


def _opened(
    context: Context, active: ActiveTurn, call: CallOperation, command: FinishTool, spawn: Spawn
) -> list[Draft]:
    """The attempt is over, and its result is the end of the turn it opens; of a detached one, that it was opened."""
    if active.status.phase == "cancelling":
        return [_draft(command, "finished", _finished(call, command, "interrupted"))]
    child = spawned(context, active, call, spawn)
    if isinstance(child, str):
        return [_draft(command, "finished", _says(call, command, "error", Text(text=child)))]
    if spawn.detached:
        finished = _draft(command, "finished", _says(call, command, "success", started_text(spawn)))
    else:
        finished = _draft(command, "deferred", _finished(call, command, "deferred"))
    return [finished, *_caused(finished, [child], 0)]


def _says(call: CallOperation, command: FinishTool, outcome: ToolOutcome, text: Text) -> ToolFinished:
    return _finished(call, command, outcome).model_copy(update={"output": (text,)})


def _caused(cause: Draft, payloads: list[Payload], first: int) -> list[Draft]:
    return [
        Draft(entry_ids.caused(cause.entry_id, n), payload, turn_id=cause.turn_id, step=cause.step)
        for n, payload in enumerate(payloads, start=first)
    ]


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
        said = " ".join(block.text for block in command.output if isinstance(block, Text))
        return [] if cancelling else [unknown_outcome(active, call.call_id, said)]
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
        name=command.name if call is None else call.name,
        ordinal=command.ordinal,
        outcome=command.outcome,
        output=command.output,
        duration_ms=command.duration_ms,
    )
    return _draft(command, "late", payload)


def _draft(command: FinishTool | SettleCall, what: str, payload: Payload) -> Draft:
    entry_id = entry_ids.tool(command.turn_id, command.step, command.call_id, command.ordinal, what)
    return Draft(entry_id, payload, turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch)
