"""Operations on an agent's state beside its messages, as data.

Rule: an operation says what is wanted, `apply_op` whether it may be. Those in `TRUSTED` are for callers
who answer for the result, never for a tool. No operation completes a turn.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from turnwright.journal.messages import Tagged
from turnwright.journal.state_parts import Todo


class Operation(Tagged):
    """Base of the operations."""

    TAG: ClassVar[str] = "op"


class WriteTodos(Operation):
    """Replace the whole list of todos. With `expected_revision` only if nothing changed since."""

    op: Literal["write_todos"] = "write_todos"
    todos: tuple[Todo, ...]
    expected_revision: int | None = None


class ProposeObjective(Operation):
    """Say what the task is for; a trusted caller settles it."""

    op: Literal["propose_objective"] = "propose_objective"
    text: str


class ProposeRequirement(Operation):
    """Say what the result must satisfy; a trusted caller settles it.

    With the id of a requirement that is still proposed, its text is replaced; without one it is new.
    """

    op: Literal["propose_requirement"] = "propose_requirement"
    text: str
    id: str | None = None


class EnterPlan(Operation):
    """Plan before acting: only tools with `effect="read"` run until the plan is left."""

    op: Literal["enter_plan"] = "enter_plan"


class WritePlan(Operation):
    """Replace the document of the active plan."""

    op: Literal["write_plan"] = "write_plan"
    document: str


class LeavePlan(Operation):
    """Act again; the document stays."""

    op: Literal["leave_plan"] = "leave_plan"


class WriteMemory(Operation):
    """Replace the memory document. With `expected_revision` only if nothing changed since."""

    op: Literal["write_memory"] = "write_memory"
    document: str
    expected_revision: int | None = None


class ActivateGroups(Operation):
    """Offer these groups of tools to the model."""

    op: Literal["activate_groups"] = "activate_groups"
    groups: tuple[str, ...]


class BeginTask(Operation):
    """Begin anew: this objective and these requirements, confirmed; no todo, nothing verified."""

    op: Literal["begin_task"] = "begin_task"
    objective: str
    requirements: tuple[str, ...] = ()


class DecideObjective(Operation):
    """Confirm or reject the objective."""

    op: Literal["decide_objective"] = "decide_objective"
    verdict: Literal["confirmed", "rejected"]


class DecideRequirement(Operation):
    """Confirm or reject a requirement, also one that was settled otherwise before."""

    op: Literal["decide_requirement"] = "decide_requirement"
    id: str
    verdict: Literal["confirmed", "rejected"]
    reason: str | None = None


class AddVerification(Operation):
    """Record what an explicit check found about a requirement."""

    op: Literal["add_verification"] = "add_verification"
    requirement: str
    passed: bool
    summary: str
    subject: str = ""


class DeactivateGroups(Operation):
    """Offer these groups of tools no longer."""

    op: Literal["deactivate_groups"] = "deactivate_groups"
    groups: tuple[str, ...]


ToolOp: TypeAlias = (
    WriteTodos
    | ProposeObjective
    | ProposeRequirement
    | EnterPlan
    | WritePlan
    | LeavePlan
    | WriteMemory
    | ActivateGroups
)
TrustedOp: TypeAlias = BeginTask | DecideObjective | DecideRequirement | AddVerification | DeactivateGroups
StateOp = Annotated[ToolOp | TrustedOp, Field(discriminator="op")]

TRUSTED: Final = (BeginTask, DecideObjective, DecideRequirement, AddVerification, DeactivateGroups)
