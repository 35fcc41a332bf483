"""Agents, tools, models, and the activities that run them for workflows.

What an agent's author needs is importable from here; scripted models, which need no key, from
`turnwright.activities.models`.
"""

from turnwright.activities.agent import Agent
from turnwright.activities.agent_tools import (
    activate_tools,
    agent_tools,
    ask_user,
    memory_write,
    plan_enter,
    plan_exit,
    plan_write,
    propose_objective,
    propose_requirement,
    read_result,
    todo_write,
)
from turnwright.activities.agent_tools.sessions import session_history, session_list, session_search
from turnwright.activities.check import Check, CheckHook
from turnwright.activities.mcp import McpServer
from turnwright.activities.memory import MemorySource, RequestContext
from turnwright.activities.permissions import Permissions
from turnwright.activities.reconcile import Reconciled, ReconcileHook
from turnwright.activities.registry import Registry, load_registry
from turnwright.activities.sources.toolset import Toolset
from turnwright.activities.subagents import Subagent
from turnwright.activities.tool_context import Answer, ToolContext
from turnwright.activities.tool_errors import OutcomeUnknown, ToolError
from turnwright.activities.tool_output import Attachment, ToolOutput
from turnwright.activities.tool_results import Approval, Changed, External, Question
from turnwright.activities.tools import Tool, tool
from turnwright.journal.agents import ApprovalTerms, ContextPolicy, Effect, Limits

__all__ = [
    "Agent",
    "Answer",
    "Approval",
    "ApprovalTerms",
    "Attachment",
    "Changed",
    "Check",
    "CheckHook",
    "ContextPolicy",
    "Effect",
    "External",
    "Limits",
    "McpServer",
    "MemorySource",
    "OutcomeUnknown",
    "Permissions",
    "Question",
    "ReconcileHook",
    "Reconciled",
    "Registry",
    "RequestContext",
    "Subagent",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "Toolset",
    "activate_tools",
    "agent_tools",
    "ask_user",
    "load_registry",
    "memory_write",
    "plan_enter",
    "plan_exit",
    "plan_write",
    "propose_objective",
    "propose_requirement",
    "read_result",
    "session_history",
    "session_list",
    "session_search",
    "todo_write",
    "tool",
]
