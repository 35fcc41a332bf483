"""`evolve` for ThreadControl: what a recorded fact changes for the next decision.

Rule: a table from payload type to function. A type that is not in it changes only `seq`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnwright.journal.budgets import Used
from turnwright.journal.control import (
    ActiveTurn,
    CallOperation,
    Claim,
    Failing,
    ModelOperation,
    OpenInteraction,
    PauseFlag,
    ThreadControl,
)
from turnwright.journal.entries import (
    BudgetChanged,
    ChildFinished,
    ChildSpawned,
    ContextCleared,
    ContextCompacted,
    ContextCompactionFailed,
    Entry,
    InputApplied,
    InputDiscarded,
    InputInjected,
    InputSteered,
    InteractionExpired,
    InteractionRequested,
    InteractionResolved,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelRequested,
    ModelResponded,
    PermissionsChanged,
    PlanChanged,
    RunClaimed,
    StateUpdated,
    ThreadClosed,
    ThreadForked,
    ThreadImported,
    ThreadOpened,
    ThreadPaused,
    ThreadResumed,
    ThreadRewound,
    ToolDecided,
    ToolFinished,
    ToolReconciled,
    ToolsListed,
    ToolStarted,
    TurnCancelled,
    TurnCancelRequested,
    TurnFailed,
    TurnQueued,
    TurnRetried,
    TurnStarted,
    UsageCounted,
)
from turnwright.journal.evolve_beginnings import based, forked, imported, opened
from turnwright.journal.evolve_children import child_finished, child_spawned
from turnwright.journal.messages import ToolCall, Usage
from turnwright.journal.turn_status import FINISHED, TurnStatus, evolve_status

_NOT_FAILED: dict[str, Any] = {"failed": None, "failed_inputs": 0}
_NO_PROGRESS = (
    RunClaimed, ModelRequested, ContextCompactionFailed, ToolStarted, TurnStarted, ThreadOpened, InputApplied,
    ToolsListed,
)  # fmt: skip
_GIVEN = frozenset({"answer", "decline"})  # what a tool is told that asked and is called again
_HANDED_OVER = frozenset({"lost", "drained"})


def evolve_control(control: ThreadControl, entry: Entry) -> ThreadControl:
    """The control after a committed entry (or one about to be: position and hash are not read)."""
    control = control.model_copy(update={"seq": entry.seq})
    control = _on_thread(control, entry)
    before = control.active
    if before is None or entry.turn_id != before.turn_id:
        return _count_late(control, entry)
    active = _timed(before, _on_active(before, entry), entry.at_us)
    if active.used != before.used:
        control = control.model_copy(update={"used": control.used + (active.used - before.used)})
    if active.status.phase in FINISHED:
        failed = active.status.phase == "failed"
        kept = {"failed": active.status, "failed_inputs": active.inputs} if failed else _NOT_FAILED
        return control.model_copy(update={"active": None, **kept})
    return control.model_copy(update={"active": active})


def _count_late(control: ThreadControl, entry: Entry) -> ThreadControl:
    """What an attempt of an earlier turn used counts for the thread."""
    usage: Usage | None = getattr(entry.payload, "usage", None)
    if not isinstance(entry.payload, ModelLate) or usage is None or usage == Usage():
        return control
    return control.model_copy(update={"used": control.used.plus(usage)})


def _timed(before: ActiveTurn, after: ActiveTurn, at_us: int) -> ActiveTurn:
    """With the time counted during which an operation runs; two at once count once."""
    if after.busy == (before.busy_since_us is not None):
        return after
    if after.busy:
        return after.model_copy(update={"busy_since_us": at_us})
    spent = Used(wall_us=max(0, at_us - (before.busy_since_us or at_us)))
    return after.model_copy(update={"busy_since_us": None, "used": after.used + spent})


def _on_thread(control: ThreadControl, entry: Entry) -> ThreadControl:
    change = _THREAD.get(type(entry.payload))
    return control if change is None else control.model_copy(update=change(control, entry, entry.payload))


def _on_active(active: ActiveTurn, entry: Entry) -> ActiveTurn:
    updates: dict[str, Any] = {"status": evolve_status(active.status, entry)}
    if active.idle_runs and not _without_progress(entry):
        updates["idle_runs"] = 0
    change = _ACTIVE.get(type(entry.payload))
    if change is not None:
        updates |= change(active, entry, entry.payload)
    return active.model_copy(update=updates)


def _without_progress(entry: Entry) -> bool:
    payload = entry.payload
    if isinstance(payload, ModelInterrupted):
        return payload.reason in _HANDED_OVER
    if isinstance(payload, ToolFinished):
        return payload.outcome in _HANDED_OVER
    return isinstance(payload, _NO_PROGRESS)


# -- the thread ----------------------------------------------------------------------------------


def _queued(control: ThreadControl, _: Entry, payload: TurnQueued) -> dict[str, Any]:
    return {"queued": control.queued + 1, "on_failure": payload.on_failure or control.on_failure}


def _started(control: ThreadControl, entry: Entry, payload: TurnStarted) -> dict[str, Any]:
    status = TurnStatus(
        turn_id=entry.turn_id or "",
        request_id="",
        revision=payload.revision - 1,
        queued_seq=payload.queued_seq,
        session_seq=payload.session_seq,
        steps=payload.steps,
        budget=payload.budget,
        parent=payload.parent,
    )
    active = ActiveTurn(status=status, step=payload.steps, first_step=payload.steps, budget=payload.budget)
    return {"queued": control.queued - 1, "active": active, **_NOT_FAILED}


def _left_queue(control: ThreadControl, entry: Entry, _: object) -> dict[str, Any]:
    return {} if control.turn(entry.turn_id or "") else {"queued": control.queued - 1}


def _discarded(control: ThreadControl, entry: Entry, _: object) -> dict[str, Any]:
    failed = control.failed
    return {"failed_inputs": 0} if failed is not None and failed.turn_id == entry.turn_id else {}


def _budget_changed(control: ThreadControl, entry: Entry, payload: BudgetChanged) -> dict[str, Any]:
    budget = payload.budget if payload.budget.bounded else None
    match payload.scope:
        case "thread":
            return {"budget": budget}
        case "turns":
            return {"turn_budget": budget}
        case "turn":
            active = control.turn(entry.turn_id or "")
            return {} if active is None else {"active": active.model_copy(update={"budget": payload.budget})}


def _state_updated(_: ThreadControl, __: Entry, payload: StateUpdated) -> dict[str, Any]:
    plan = payload.changes.get("plan")
    return {"planning": bool(plan.get("active", False))} if isinstance(plan, dict) else {}


_THREAD: dict[type, Callable[[ThreadControl, Entry, Any], dict[str, Any]]] = {
    ThreadOpened: opened,
    ThreadForked: forked,
    ThreadRewound: lambda c, e, p: based(c, e, p) | _NOT_FAILED,
    ThreadClosed: lambda _, __, ___: {"closed": True},
    ThreadPaused: lambda _, e, p: {"pause": PauseFlag(on=True, revision=p.revision, source=p.source, seq=e.seq)},
    ThreadResumed: lambda _, __, p: {"pause": PauseFlag(on=False, revision=p.revision)},
    TurnQueued: _queued,
    TurnRetried: lambda c, _, __: {"queued": c.queued + 1, **_NOT_FAILED},
    TurnStarted: _started,
    TurnCancelled: _left_queue,
    TurnFailed: _left_queue,
    RunClaimed: lambda _, e, p: {"epoch": e.epoch, "run": p.temporal_run_id},
    InputInjected: lambda c, _, __: {"injected": c.injected + 1},
    InputApplied: lambda _, __, ___: {"injected": 0},
    InputDiscarded: _discarded,
    ContextCleared: lambda _, __, ___: _NOT_FAILED,
    ThreadImported: imported,
    PermissionsChanged: lambda _, __, p: {"permissions": p.permissions},
    PlanChanged: lambda _, __, p: {"planning": p.plan.active},
    StateUpdated: _state_updated,
    BudgetChanged: _budget_changed,
    UsageCounted: lambda c, _, p: {"used": c.used.plus(p.usage)},
}


# -- the active turn -------------------------------------------------------------------------------


def _claim(entry: Entry, payload: ModelRequested | ToolStarted) -> Claim:
    return Claim(nonce=payload.nonce, presence=payload.presence, epoch=entry.epoch or 0, at_us=entry.at_us)


def _model_requested(active: ActiveTurn, entry: Entry, payload: ModelRequested) -> dict[str, Any]:
    step = entry.step or 0
    model = active.model
    fresh = model is None or model.step != step
    base = ModelOperation(step=step) if fresh or model is None else model
    reserved = Used(tokens=payload.reserved_tokens, cost_microusd=payload.reserved_microusd)
    claimed = {"ordinal": payload.ordinal, "claim": _claim(entry, payload), "reserved": reserved}
    changes: dict[str, Any] = {"model": base.model_copy(update=claimed), "step": step, "answer": None}
    return changes | {"calls": (), "used": active.used + Used(steps=1)} if fresh else changes


def _waits_for_retry(active: ActiveTurn, entry: Entry) -> bool:
    """Whether the provider asked for patience: a run that finds nothing to do yet is no sign of trouble."""
    model = active.model
    return model is not None and model.claim is None and model.retry_at_us > entry.at_us


def _model_responded(active: ActiveTurn, entry: Entry, payload: ModelResponded) -> dict[str, Any]:
    calls = any(isinstance(block, ToolCall) for block in payload.blocks)
    return {
        "model": None,
        "answer": None if calls else entry.entry_id,
        "failing": None,
        "used": active.used.plus(payload.usage),
    }


def _cancel_requested(_: ActiveTurn, __: Entry, payload: TurnCancelRequested) -> dict[str, Any]:
    return {"cancel": payload.source, "cancelled_by": payload.principal, "cancel_reason": payload.reason}


def _attempt_over(active: ActiveTurn, ordinal: int) -> dict[str, Any]:
    model = active.model
    return {} if model is None or model.ordinal != ordinal else {"claim": None}


_HOPELESS = frozenset({"invalid", "context_length", "refused"})


def _model_failed(active: ActiveTurn, _: Entry, payload: ModelFailed) -> dict[str, Any]:
    model = active.model
    changes: dict[str, Any] = {"used": active.used.plus(payload.usage)}
    if model is None:
        return changes
    failures = model.failures | {payload.failure: model.failures.get(payload.failure, 0) + 1}
    update = _attempt_over(active, payload.ordinal)
    update |= {"failures": failures, "retry_at_us": payload.retry_at_us or 0}
    changes["model"] = model.model_copy(update=update)
    if payload.retry_at_us is None:
        message = f"model call failed ({payload.failure}): {payload.message}"
        retryable = payload.failure not in _HOPELESS
        changes["failing"] = Failing(code="model_error", message=message, retryable=retryable)
    return changes


def _model_interrupted(active: ActiveTurn, _: Entry, payload: ModelInterrupted) -> dict[str, Any]:
    model = active.model
    changes: dict[str, Any] = {"used": active.used.plus(payload.usage)}
    if model is not None:
        update = _attempt_over(active, payload.ordinal)
        update["lost"] = model.lost + (payload.reason == "lost")
        changes["model"] = model.model_copy(update=update)
    return changes


def _with_call(active: ActiveTurn, call_id: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    calls = tuple(c.model_copy(update=changes) if c.call_id == call_id else c for c in active.calls)
    return {"calls": calls}


def _tool_decided(active: ActiveTurn, _: Entry, payload: ToolDecided) -> dict[str, Any]:
    state = {"allow": "ready", "ask": "asking", "deny": "closed"}[payload.decision]
    known = active.call(payload.call_id) is not None
    if not known and state == "closed":
        return {}  # its result stands in the same batch, and its name may be anything a model makes up
    if known:
        decided = {"state": state, "digest": payload.arguments_digest, "approved": payload.decision == "allow"}
        return _with_call(active, payload.call_id, **decided)
    call = CallOperation(
        call_id=payload.call_id,
        name=payload.name,
        effect=payload.effect,
        digest=payload.arguments_digest,
        reconcilable=payload.reconcilable,
        state=state,  # type: ignore[arg-type]
    )
    return {"calls": (*active.calls, call)}


def _tool_started(active: ActiveTurn, entry: Entry, payload: ToolStarted) -> dict[str, Any]:
    running = {"state": "running", "ordinal": payload.ordinal, "claim": _claim(entry, payload)}
    return _with_call(active, payload.call_id, **running) | {"used": active.used + Used(tool_calls=1)}


def _tool_finished(active: ActiveTurn, _: Entry, payload: ToolFinished) -> dict[str, Any]:
    call = active.call(payload.call_id)
    if call is None:
        return {}
    spent = {"tool_time_ms": active.tool_time_ms + payload.duration_ms}
    if payload.outcome == "deferred":
        return spent | _with_call(active, call.call_id, state="deferred", claim=None)
    if payload.outcome not in _HANDED_OVER:
        unsure = payload.effect_unknown
        return spent | _with_call(active, call.call_id, state="closed", claim=None, unsure=unsure)
    if payload.ordinal != call.ordinal:
        return spent
    state = "unknown" if call.effect == "once" else "ready"
    lost = call.lost + (payload.outcome == "lost")
    return spent | _with_call(active, call.call_id, state=state, claim=None, lost=lost)


def _tool_reconciled(active: ActiveTurn, _: Entry, payload: ToolReconciled) -> dict[str, Any]:
    call = active.call(payload.call_id)
    if call is not None and payload.outcome == "run_again":
        return _with_call(active, call.call_id, state="ready", claim=None, written_off=call.ordinal)
    return _with_call(active, payload.call_id, state="closed", claim=None)


def _asked(active: ActiveTurn, _: Entry, payload: InteractionRequested) -> dict[str, Any]:
    budget = payload.asked if payload.kind == "budget" else {}
    interaction = OpenInteraction(
        interaction_id=payload.interaction_id,
        kind=payload.kind,
        scope=budget.get("scope"),
        over=tuple(budget.get("over", ())),
        call_id=payload.call_id,
        deadline_us=payload.deadline_us,
        on_expiry=payload.on_expiry,
        again=payload.again,
    )
    call = active.call(payload.call_id or "")
    asked = {} if call is None else _with_call(active, call.call_id, asks=call.asks + 1)
    return asked | {"interactions": (*active.interactions, interaction)}


def _answered(active: ActiveTurn, _: Entry, payload: InteractionResolved | InteractionExpired) -> dict[str, Any]:
    question = active.interaction(payload.interaction_id)
    left = tuple(i for i in active.interactions if i.interaction_id != payload.interaction_id)
    call = None if question is None or not question.again else active.call(question.call_id or "")
    if call is not None and call.state == "deferred" and payload.resolution in _GIVEN:
        again = {"state": "ready", "claim": None, "written_off": call.ordinal}
        return _with_call(active, call.call_id, **again) | {"interactions": left}
    if question is None or question.kind != "budget" or payload.resolution != "fail":
        return {"interactions": left}
    message = f"the budget of the {question.scope or 'turn'} is used up"
    return {"interactions": left, "failing": Failing(code="budget", message=message)}


_ACTIVE: dict[type, Callable[[ActiveTurn, Entry, Any], dict[str, Any]]] = {
    RunClaimed: lambda a, e, p: {"idle_runs": a.idle_runs + (not (p.waits or _waits_for_retry(a, e)))},
    TurnCancelRequested: _cancel_requested,
    InputSteered: lambda a, _, __: {"inputs": a.inputs + 1},
    InputApplied: lambda _, __, ___: {"inputs": 0},
    InputDiscarded: lambda _, __, ___: {"inputs": 0},
    ModelRequested: _model_requested,
    ModelResponded: _model_responded,
    ModelFailed: _model_failed,
    ModelInterrupted: _model_interrupted,
    ModelLate: lambda a, _, p: {"used": a.used.plus(p.usage)},
    ContextCompacted: lambda a, _, p: {"used": a.used.plus(p.usage)},
    ContextCompactionFailed: lambda a, _, p: {"used": a.used.plus(p.usage)},
    ToolDecided: _tool_decided,
    ToolStarted: _tool_started,
    ToolFinished: _tool_finished,
    ToolReconciled: _tool_reconciled,
    InteractionRequested: _asked,
    InteractionResolved: _answered,
    InteractionExpired: _answered,
    ChildSpawned: child_spawned,
    ChildFinished: child_finished,
}
