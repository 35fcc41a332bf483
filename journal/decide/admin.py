"""What commands about a thread's state record: permissions, budgets, tasks, and an administrator's changes.

Rule: nothing is changed under a run's feet, except that permissions may be tightened at any time. Who changes
what was read says how far they had read (`expected_seq`), and is told when that is not the last entry any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from turnwright.journal.advance import fold_drafts
from turnwright.journal.agent_state import AgentState
from turnwright.journal.closing import forsake_failed
from turnwright.journal.commands import (
    ChangeState,
    ClearContext,
    CountUsage,
    Rejection,
    SetBudget,
    SetPermissions,
    UpdateState,
)
from turnwright.journal.control import ThreadControl
from turnwright.journal.decide.context import Context, Decision, recorded, who_asked, without_reason
from turnwright.journal.entries import (
    BudgetChanged,
    ContextCleared,
    PermissionsChanged,
    StateUpdated,
    UsageCounted,
)
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import changed, is_tightening
from turnwright.journal.settle import given_room
from turnwright.journal.state_ops import LeavePlan, Refusal, apply_op, replaced_plan, replaced_tasks

NOT_OPENED = Rejection("not_opened", "the thread pins its agent when its first turn starts; until then there is none")
CHANGEABLE = ("context", "summary", "plan", "tasks", "tools")


def set_permissions(context: Context, command: SetPermissions) -> Decision:
    """Change what the agent may do; more than before only while nothing runs."""
    control = context.control
    if not control.opened:
        return NOT_OPENED
    try:
        permissions = changed(control.permissions, command.change)
    except InvalidInput as error:
        return Rejection("bad_permissions", str(error))
    if not is_tightening(control.permissions, permissions) and runs(context):
        return Rejection("turn_active", "a turn is running: permissions can only be tightened now; pause it first")
    return recorded(command, PermissionsChanged(permissions=permissions, **who_asked(command)))


def set_budget(context: Context, command: SetBudget) -> Decision:
    """Say what the thread, or each of its turns to come, may use; that may answer the question that is open."""
    changes = recorded(command, BudgetChanged(scope=command.scope, budget=command.budget, **who_asked(command)))
    # At once: a turn that waits has no run and is no work, so nobody else would look at it.
    after = fold_drafts(context.control, changes, context.facts.now_us)
    return [*changes, *given_room(after, context.session, context.facts)]


def count_usage(_: Context, command: CountUsage) -> Decision:
    """Count what was used beside the turns; it was paid for, so it is counted in any case."""
    return recorded(command, UsageCounted(usage=command.usage, **who_asked(command)))


def change_state(context: Context, command: ChangeState) -> Decision:
    """Do one operation on tasks, plan or tool groups, as a trusted caller; a plan is not left under a run's feet."""
    if isinstance(command.op, LeavePlan) and runs(context):
        return Rejection(
            "turn_active", "a turn is running, and leaving its plan loosens what it may do; pause it first"
        )
    state = context.facts.state
    assert state is not None, "the transaction loads it for this command"
    at = context.facts.now.isoformat()
    outcome = apply_op(command.op, state, tool_groups(state), by=command.principal, at=at)
    if isinstance(outcome, Refusal):
        return Rejection("refused", outcome.message)
    return recorded(command, outcome.model_copy(update=dict(who_asked(command))))


def update_state(context: Context, command: UpdateState) -> Decision:
    """Replace whole fields of the state."""
    refused = _stale(context.control, command.expected_seq) or _under_way(context)
    refused = refused or without_reason(command, "say why the state is replaced")
    if refused is not None:
        return refused
    state = context.facts.state
    assert state is not None, "the transaction loads it for this command"
    changes = _valid(state, command.changes)
    if isinstance(changes, Rejection):
        return changes
    return recorded(command, StateUpdated(changes=changes, **who_asked(command)))


def clear_context(context: Context, command: ClearContext) -> Decision:
    """Begin the conversation anew; permissions, tools, tasks and plan stay, and so does the history."""
    refused = _stale(context.control, command.expected_seq)
    if refused is None and context.control.active is not None:
        # Its next request would begin without the message it works on.
        refused = Rejection("turn_active", "a turn is active; wait for its end, or cancel it")
    if refused is not None:
        return refused
    # Its retry would ask a model without the task, so it is forsaken with what it had not seen yet.
    forsaken = forsake_failed(context.control, "the context was cleared")
    return [*forsaken, *recorded(command, ContextCleared(**who_asked(command)))]


def tool_groups(state: AgentState) -> frozenset[str]:
    """The groups the agent's tools are in."""
    tools = () if state.agent is None else state.agent.tools
    return frozenset(tool.group for tool in tools if tool.group is not None)


def runs(context: Context) -> bool:
    """Whether a turn is being carried on: one that is parked, held or waiting for an answer, has no run."""
    active = context.control.active
    if active is None:
        return False
    held = active.status.held or context.control.pause.on or context.session.pause.on
    return active.busy or not (held or active.status.phase == "waiting")


def _under_way(context: Context) -> Rejection | None:
    active = context.control.active
    if runs(context):
        return Rejection("turn_active", "a turn is running; wait for its end, or pause it first")
    if active is not None and any(call.state != "closed" for call in active.calls):
        return Rejection("open_calls", "the active turn has calls without a result; answer or cancel them first")
    return None


def _stale(control: ThreadControl, expected_seq: int | None) -> Rejection | None:
    if expected_seq is None or expected_seq == control.seq:
        return None
    return Rejection("stale_seq", f"the thread is at entry {control.seq}, not {expected_seq}; read its state again")


def _valid(state: AgentState, changes: Mapping[str, Any]) -> dict[str, Any] | Rejection:
    """The changes as they are stored: whole values of known fields."""
    unknown = sorted(set(changes) - set(CHANGEABLE))
    if unknown or not changes:
        what = f"cannot be changed so: {', '.join(unknown)}" if unknown else "no field is named"
        return Rejection("invalid_changes", f"{what}; fields are {', '.join(CHANGEABLE)}")
    try:
        new = AgentState.model_validate(state.model_dump(mode="json") | dict(changes))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Rejection("invalid_changes", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    missing = sorted(set(new.tools) - tool_groups(state))
    if missing:
        return Rejection("invalid_changes", f"tools: the agent has no group {', '.join(missing)}")
    parts = {"tasks": replaced_tasks(state.tasks, new.tasks), "plan": replaced_plan(new.plan)}
    for name in changes:
        if isinstance(part := parts.get(name), Refusal):
            return Rejection("invalid_changes", f"{name}: {part.message}")
    dumped = new.model_copy(update={name: parts[name] for name in changes if name in parts}).model_dump(mode="json")
    return {name: dumped[name] for name in changes}
