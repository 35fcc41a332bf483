"""Groups of tools that a model activates when it needs them.

Rule: a tool of a group is offered from the request after its activation on, and not before.
"""

from __future__ import annotations

from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_results import Changed
from turnwright.activities.tools import tool
from turnwright.journal.state_ops import ActivateGroups


@tool(effect="read")
async def activate_tools(ctx: ToolContext, groups: list[str]) -> Changed:
    """Activate groups of tools; you can call their tools from your next answer on.

    Args:
        ctx: Of the call.
        groups: Names of groups, as they are listed in the state of your work.
    """
    if not groups:
        raise ToolError("Name at least one group.")
    agent = None if ctx.state is None else ctx.state.agent
    tools = [] if agent is None else [spec.name for spec in agent.tools if spec.group in groups]
    return Changed(ActivateGroups(groups=tuple(groups)), says=f"You can call now: {', '.join(tools)}.")
