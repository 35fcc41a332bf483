"""`plan`: what a turn must do next.

Rule: the first line that applies wins, from the irreversible to the routine: a cancel, an end, a
failure, a pause, the calls of the step, the next model call. It is a function of control, session
and facts alone, so every takeover, restart and rebuild asks the same question and gets one answer.
"""

from __future__ import annotations

from turnwright.journal.actions import (
    Action,
    Delay,
    ModelOp,
    Op,
    OverBudget,
    Park,
    ReconcileOp,
    Record,
    Start,
    Stop,
    ToolOp,
    Work,
)
from turnwright.journal.budgets import Used
from turnwright.journal.control import ActiveTurn, CallOperation, Failing, SessionControl, ThreadControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.facts import Facts
from turnwright.journal.spending import over_budget

RUNS_WITHOUT_PROGRESS_MAX = 5
ATTEMPTS_LOST_MAX = 10
RESERVED_WAIT_US = 30 * SECOND_US  # a second net: who gives back has those who wait woken


def plan(control: ThreadControl, session: SessionControl, facts: Facts, turn_id: str) -> Action:
    """The next action of a turn; pure, and never a write by itself."""
    active = control.active
    if active is None or active.turn_id != turn_id:
        return _plan_queued(control, session, facts, turn_id)
    for rule in (_cancelling, _ended, _failing, _held, _calls, _next_model_call):
        action = rule(control, session, facts, active)
        if action is not None:
            return _within_budget(control, session, facts, action)
    return Work(running=running_ops(active))


def _within_budget(control: ThreadControl, session: SessionControl, facts: Facts, action: Action) -> Action:
    """The action without what a budget does not let start; if that leaves nothing, others or a person is waited for."""
    if not isinstance(action, Work) or not action.start:
        return action
    start, over = _affordable(control, session, facts, action.start)
    if start or action.running or over is None:
        return Work(start, action.running)
    if over.reserved:
        return Delay(facts.now_us + RESERVED_WAIT_US, RESERVED_WAIT_US / SECOND_US, "reserved")
    return Record("over_budget", over=over)


def _affordable(
    control: ThreadControl, session: SessionControl, facts: Facts, ops: tuple[Op, ...]
) -> tuple[tuple[Op, ...], OverBudget | None]:
    """The operations that may start, and what stands against another; each counts for those behind it."""
    start: list[Op] = []
    against: OverBudget | None = None
    for op in ops:
        before = Used(tool_calls=sum(isinstance(o, ToolOp) for o in start))
        over = over_budget(control, session, facts, op, before)
        if over is None:
            start.append(op)
        against = against or over
    return tuple(start), against


def running_ops(active: ActiveTurn) -> tuple[Op, ...]:
    """The operations claimed by an attempt that was not given up."""
    model = active.model
    ops: list[Op] = []
    if model is not None and model.claim is not None:
        ops.append(ModelOp(model.step, model.ordinal))
    ops += [ToolOp(active.step, c.call_id, c.ordinal) for c in active.calls if c.claim is not None]
    return tuple(ops)


def hold_reason(control: ThreadControl, session: SessionControl, *, own: bool) -> Park | None:
    """Which pause flag holds new operations back, if any; the turn's own comes first."""
    if own:
        return Park("paused")
    if control.pause.on:
        return Park("thread_paused")
    return Park("session_paused") if session.pause.on else None


def _plan_queued(control: ThreadControl, session: SessionControl, facts: Facts, turn_id: str) -> Action:
    front = facts.front
    if control.active is not None or front is None or front.turn_id != turn_id:
        return Stop("not_head")
    return hold_reason(control, session, own=front.held) or Start()


def _cancelling(_: ThreadControl, __: SessionControl, ___: Facts, active: ActiveTurn) -> Action | None:
    if active.status.phase != "cancelling":
        return None
    return Work(running=running_ops(active)) if active.busy else Record("cancelled")


def _ended(_: ThreadControl, __: SessionControl, ___: Facts, active: ActiveTurn) -> Action | None:
    if active.answer is None or active.inputs or active.waits or active.busy:
        return None
    return Record("completed")


def _failing(control: ThreadControl, _: SessionControl, __: Facts, active: ActiveTurn) -> Action | None:
    failing = active.failing or _stuck(active) or _over_limit(control, active)
    if failing is None:
        return None
    if active.busy:
        return Work(running=running_ops(active))
    return Record("failed", failing.code, failing.message, failing.retryable)


def _stuck(active: ActiveTurn) -> Failing | None:
    lost = max([0 if active.model is None else active.model.lost, *(c.lost for c in active.calls)])
    if active.idle_runs <= RUNS_WITHOUT_PROGRESS_MAX and lost < ATTEMPTS_LOST_MAX:
        return None
    return Failing(code="internal", message="the turn was restarted too often without any progress")


def _over_limit(control: ThreadControl, active: ActiveTurn) -> Failing | None:
    limits = control.limits
    over = {
        "max_tokens": limits.max_tokens is not None and active.used.tokens >= limits.max_tokens,
        "tool_time": limits.tool_time_s is not None and active.tool_time_ms >= limits.tool_time_s * 1000,
        "max_steps": active.model is None and _all_closed(active) and active.steps_used >= limits.max_steps,
    }
    limit = next((name for name, is_over in over.items() if is_over), None)
    return None if limit is None else Failing(code=limit, message=f"the agent's limit {limit} is reached")


def _all_closed(active: ActiveTurn) -> bool:
    return all(call.state == "closed" for call in active.calls)


def _held(control: ThreadControl, session: SessionControl, _: Facts, active: ActiveTurn) -> Action | None:
    hold = hold_reason(control, session, own=active.status.held)
    if hold is None:
        return None
    if active.busy:
        return Work(running=running_ops(active))
    return Record("paused") if active.status.pause == "requested" else hold


def _calls(_: ThreadControl, __: SessionControl, ___: Facts, active: ActiveTurn) -> Action | None:
    if not active.waits and (active.model is not None or _all_closed(active)):
        return Record("continued") if active.status.phase == "waiting" else None
    if any(_needs_question(active, call) for call in active.calls):
        return Record("asked")
    start = tuple(op for call in active.calls if (op := _op_of(active, call)) is not None)
    running = running_ops(active)
    if active.status.phase == "waiting":
        return Record("continued") if start or not active.waits else Park("waiting")
    if start or running:
        return Work(start, running)
    return Record("waiting") if active.waits else None


def _needs_question(active: ActiveTurn, call: CallOperation) -> bool:
    """An unknown outcome nobody can be asked about by machine, and nobody has been asked about yet."""
    asked = active.asked_about(call.call_id) is not None
    return call.state == "unknown" and not call.reconcilable and not asked


def _op_of(active: ActiveTurn, call: CallOperation) -> Op | None:
    if any(other.state == "asking" for other in active.calls) or any(q.kind == "budget" for q in active.interactions):
        return None
    if call.state == "ready":
        return ToolOp(active.step, call.call_id, call.ordinal + 1)
    if call.state == "unknown" and call.reconcilable and active.asked_about(call.call_id) is None:
        return ReconcileOp(active.step, call.call_id, call.ordinal)
    return None


def _next_model_call(_: ThreadControl, __: SessionControl, facts: Facts, active: ActiveTurn) -> Action | None:
    model = active.model
    if model is None:
        return Work((ModelOp(active.step + 1, 1),))
    if model.claim is not None:
        return Work(running=running_ops(active))
    if model.retry_at_us > facts.now_us:
        return Delay(model.retry_at_us, (model.retry_at_us - facts.now_us) / SECOND_US)
    return Work((ModelOp(model.step, model.ordinal + 1),))
