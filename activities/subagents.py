"""Subagents: agents that an agent may give a task to, each with a tool of its own.

Rule: the tool only says what is wanted. The task becomes a turn on a thread of its own, in the transaction that ends
the attempt, and the end of that turn is the result of the call; meanwhile nothing runs for it here. What the other
agent may do is its own definition's to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_output import Beside
from turnwright.activities.tools import Tool, tool
from turnwright.journal.budgets import Budget
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import checked_part

TASK_CHARACTERS_MAX: Final = 100_000
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_WAITED_FOR = "Its answer is the result."
_DETACHED = "It works by itself: the result only says that it has begun."


@dataclass(frozen=True, slots=True)
class Opened(Beside):
    """The call's result is the end of a turn of another agent; of a `detached` one, that it was opened."""

    agent: str
    task: str
    detached: bool = False
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent that another one may give tasks to.

    `agent` is its name; any worker may know it. `description` tells the model what it is for. `name` is the tool's (by
    default the agent's, with `_` for what a tool's name may not have). The call waits for the end of the task, unless
    it is `detached`: then it returns at once, and a cancel of the parent does not reach the child. `budget` is what
    one task may use at most.

    Raises:
        InvalidInput: something is not what it must be.
    """

    agent: str
    description: str
    name: str | None = None
    detached: bool = False
    budget: Budget | None = None
    _tool: Tool[..., Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check everything, once."""
        checked_part("subagent's agent", self.agent)
        if not isinstance(self.description, str) or not self.description.strip():
            raise InvalidInput(f"subagent {self.agent}: description must say what it is for; the model chooses by it")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise InvalidInput(f"subagent {self.agent}: budget must be a Budget(...), got {self.budget!r:.100}")
        object.__setattr__(self, "_tool", self._made())

    @property
    def tool(self) -> Tool[..., Any]:
        """The tool the model calls it by."""
        return self._tool

    def _made(self) -> Tool[..., Any]:
        async def give_task(task: str) -> Opened:
            """Documented below."""
            if not task.strip() or len(task) > TASK_CHARACTERS_MAX:
                raise ToolError(f"Not started: say the task in 1 to {TASK_CHARACTERS_MAX:,} characters.")
            return Opened(self.agent, task, self.detached, self.budget)

        give_task.__doc__ = (
            f"{self.description.strip()}\n\n{_DETACHED if self.detached else _WAITED_FOR}\n\n"
            "Args:\n    task: All it needs to know; it does not see this conversation.\n"
        )
        name = self.name or _NOT_IN_A_NAME.sub("_", self.agent)[:64]
        return tool(effect="idempotent", name=name)(give_task)
