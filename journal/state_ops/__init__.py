"""Operations on an agent's state, as data, and the pure function that applies them."""

from turnwright.journal.state_ops.apply import Change, apply_op, apply_ops, changed
from turnwright.journal.state_ops.ops import (
    TRUSTED,
    ActivateGroups,
    AddVerification,
    BeginTask,
    DeactivateGroups,
    DecideObjective,
    DecideRequirement,
    EnterPlan,
    LeavePlan,
    ProposeObjective,
    ProposeRequirement,
    StateOp,
    ToolOp,
    TrustedOp,
    WriteMemory,
    WritePlan,
    WriteTodos,
)
from turnwright.journal.state_ops.refusal import Refusal
from turnwright.journal.state_ops.replacing import replaced_plan, replaced_tasks

__all__ = [
    "TRUSTED",
    "ActivateGroups",
    "AddVerification",
    "BeginTask",
    "Change",
    "DeactivateGroups",
    "DecideObjective",
    "DecideRequirement",
    "EnterPlan",
    "LeavePlan",
    "ProposeObjective",
    "ProposeRequirement",
    "Refusal",
    "StateOp",
    "ToolOp",
    "TrustedOp",
    "WriteMemory",
    "WritePlan",
    "WriteTodos",
    "apply_op",
    "apply_ops",
    "changed",
    "replaced_plan",
    "replaced_tasks",
]
