"""Planning before acting: while a plan is active, only tools that change nothing run.

Rule: leaving a plan is approved by a person who has read it. So the document that was read cannot be
replaced in the step that leaves the plan.
"""

from __future__ import annotations

from typing import Any, Final

from turnwright.activities.check import Check
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_results import Changed
from turnwright.activities.tools import tool
from turnwright.journal.agent_state import AgentState
from turnwright.journal.state_ops import EnterPlan, LeavePlan, WritePlan
from turnwright.journal.state_parts import PlanState

PLAN_EXIT: Final = "plan_exit"


@tool(effect="read")
async def plan_enter() -> Changed:
    """Begin to plan: until the plan is left you can only look, not change anything.

    Use it when the task is large, or when it is open what the user wants.
    """
    return Changed(EnterPlan(), says="You are planning. Look around, write the plan, then leave it for approval.")


@tool(effect="read")
async def plan_write(ctx: ToolContext, document: str) -> Changed:
    """Write the plan, replacing what was written before.

    Args:
        ctx: Of the call.
        document: The whole plan in Markdown: what you will change, where, in which order, and how you will check it.
    """
    if ctx.state is not None and _is_being_left(ctx.state):
        raise ToolError(
            "The plan was not written: plan_exit is called in the same step. Write first, leave afterwards."
        )
    return Changed(WritePlan(document=document), says="The plan is written.")


def approved(ctx: ToolContext, _: dict[str, Any]) -> Check:
    """Leaving a plan needs a person who has read it; with nothing to read or to leave, the call itself says so."""
    plan = _plan(ctx)
    if not _can_be_left(plan):
        return Check.allow()
    return Check.ask(f"The plan is to be left and carried out:\n\n{plan.document}")


@tool(effect="read", name=PLAN_EXIT, check=approved)
async def plan_exit(ctx: ToolContext) -> Changed:
    """Ask the user to approve the plan you wrote, and leave it. Then you can act."""
    plan = _plan(ctx)
    if not plan.active:
        raise ToolError("No plan is active, so there is none to leave.")
    if not _can_be_left(plan):
        raise ToolError("The plan has no text, so there is nothing to approve. Write it with plan_write first.")
    return Changed(LeavePlan(), says=f"The plan is approved. Carry it out:\n\n{plan.document}")


def _can_be_left(plan: PlanState) -> bool:
    return plan.active and bool(plan.document.strip())


def _plan(ctx: ToolContext) -> PlanState:
    return PlanState() if ctx.state is None else ctx.state.plan


def _is_being_left(state: AgentState) -> bool:
    pending = state.pending_calls
    return any(call.name == PLAN_EXIT and call.id in pending for message in state.context for call in message.calls)
