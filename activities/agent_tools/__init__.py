"""Tools an agent uses on itself: todos, a plan, questions to the user, requirements, groups of tools, memory, results
that were set aside.

Rule: they touch nothing but the thread's own state, in one transaction with their result. So repeating them
is free (`effect="read"`), and they run while planning and exploring too. None of them finishes a turn.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from turnwright.activities.agent_tools.groups import activate_tools
from turnwright.activities.agent_tools.memories import memory_write
from turnwright.activities.agent_tools.plans import plan_enter, plan_exit, plan_write
from turnwright.activities.agent_tools.questions import ask_user
from turnwright.activities.agent_tools.requirements import propose_objective, propose_requirement
from turnwright.activities.agent_tools.results import read_result
from turnwright.activities.agent_tools.todos import todo_write
from turnwright.activities.tools import Tool

__all__ = [
    "activate_tools",
    "agent_tools",
    "ask_user",
    "memory_write",
    "plan_enter",
    "plan_exit",
    "plan_write",
    "propose_objective",
    "propose_requirement",
    "read_result",
    "todo_write",
]

Purpose: TypeAlias = Literal["todos", "plan", "questions", "requirements", "groups", "results", "memory"]
_TOOLS: Final[dict[Purpose, tuple[Tool[..., Any], ...]]] = {
    "todos": (todo_write,),
    "plan": (plan_enter, plan_write, plan_exit),
    "questions": (ask_user,),
    "requirements": (propose_objective, propose_requirement),
    "groups": (activate_tools,),
    "results": (read_result,),
    "memory": (memory_write,),
}


def agent_tools(*purposes: Purpose) -> tuple[Tool[..., Any], ...]:
    """The agent's own tools for these purposes, all without one: `Agent(tools=[*agent_tools("plan"), …])`."""
    return tuple(tool for purpose in purposes or _TOOLS for tool in _TOOLS[purpose])
