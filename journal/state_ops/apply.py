"""Applies operations to an agent's state: a pure function from one to the entry it becomes.

Rule: a refusal changes nothing, and an accepted operation becomes exactly one entry that holds the whole
new value. An operation that changes nothing is accepted all the same, but for entering a plan that is
active and leaving one that is not. Principal and reason of the entry are for the caller to set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from turnwright.journal.agent_state import AgentState
from turnwright.journal.canonical import repair
from turnwright.journal.entries.state import MemoryChanged, PlanChanged, TasksChanged, ToolsChanged
from turnwright.journal.state_ops.limits import MEMORY_DOCUMENT_BYTES_MAX
from turnwright.journal.state_ops.ops import (
    ActivateGroups,
    DeactivateGroups,
    EnterPlan,
    LeavePlan,
    StateOp,
    WriteMemory,
    WritePlan,
)
from turnwright.journal.state_ops.refusal import Refusal, Refused
from turnwright.journal.state_ops.replacing import fitting_plan
from turnwright.journal.state_ops.tasks import Whose, changed_tasks
from turnwright.journal.state_parts import MemoryState, PlanState

Change: TypeAlias = TasksChanged | PlanChanged | MemoryChanged | ToolsChanged


def apply_op(
    op: StateOp, state: AgentState, groups: Collection[str] = (), *, by: str | None = None, at: str | None = None
) -> Change | Refusal:
    """The entry an operation becomes, or why it may not be.

    `groups` are those of the tools the agent has; `by` and `at` (ISO time) are kept with what is settled.
    """
    try:
        return _applied(_storable(op), state, groups, Whose(by, at))
    except Refused as refused:
        return Refusal(str(refused))


def apply_ops(
    ops: Sequence[StateOp],
    state: AgentState,
    groups: Collection[str] = (),
    *,
    by: str | None = None,
    at: str | None = None,
) -> tuple[Change, ...] | Refusal:
    """The entries of several operations, each on the state the one before it left: all of them, or the refusal."""
    changes: list[Change] = []
    for op in ops:
        change = apply_op(op, state, groups, by=by, at=at)
        if isinstance(change, Refusal):
            return change
        changes.append(change)
        state = changed(state, change)
    return tuple(changes)


def changed(state: AgentState, change: Change) -> AgentState:
    """The state with the change, as the fold of its entry will make it."""
    match change:
        case TasksChanged():
            return state.model_copy(update={"tasks": change.tasks})
        case PlanChanged():
            return state.model_copy(update={"plan": change.plan})
        case MemoryChanged():
            return state.model_copy(update={"memory": change.memory})
        case ToolsChanged():
            return state.model_copy(update={"tools": change.groups})


def _storable(op: StateOp) -> StateOp:
    """The operation in texts that stores can hold, so that what is decided on is what is read back."""
    return type(op).model_validate(repair(op.model_dump()))


def _applied(op: StateOp, state: AgentState, groups: Collection[str], whose: Whose) -> Change:
    match op:
        case EnterPlan() | WritePlan() | LeavePlan():
            return PlanChanged(plan=_plan(op, state.plan))
        case WriteMemory():
            return MemoryChanged(memory=_memory(op, state.memory))
        case ActivateGroups():
            wanted = _known_groups(op.groups, groups)
            return ToolsChanged(groups=tuple(sorted({*state.tools, *wanted})))
        case DeactivateGroups():
            return ToolsChanged(groups=tuple(group for group in state.tools if group not in op.groups))
        case _:
            return TasksChanged(tasks=changed_tasks(op, state.tasks, whose))


def _plan(op: EnterPlan | WritePlan | LeavePlan, plan: PlanState) -> PlanState:
    match op:
        case EnterPlan():
            if plan.active:
                raise Refused("A plan is active already. Write its document, or leave it.")
            return plan.model_copy(update={"active": True})
        case WritePlan():
            if not plan.active:
                raise Refused("No plan is active, so there is none to write. Enter a plan first.")
            return fitting_plan(plan.model_copy(update={"document": op.document}))
        case LeavePlan():
            if not plan.active:
                raise Refused("No plan is active, so there is none to leave.")
            return plan.model_copy(update={"active": False})


def _memory(op: WriteMemory, memory: MemoryState) -> MemoryState:
    if op.expected_revision not in (None, memory.revision):
        raise Refused(
            f"The memory is at revision {memory.revision}, not {op.expected_revision}: read it again, then write."
        )
    size = len(op.document.encode())
    if size > MEMORY_DOCUMENT_BYTES_MAX:
        raise Refused(f"The memory has {size:,} bytes; at most {MEMORY_DOCUMENT_BYTES_MAX:,} are kept. Shorten it.")
    return MemoryState(revision=memory.revision + 1, document=op.document)


def _known_groups(wanted: Sequence[str], groups: Collection[str]) -> Sequence[str]:
    unknown = sorted(set(wanted) - set(groups))
    if unknown:
        there = ", ".join(sorted(groups)) or "none"
        raise Refused(f"There is no tool group {', '.join(map(repr, unknown))[:200]}; there are: {there}.")
    return wanted
