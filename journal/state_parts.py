"""The parts of an agent's state beside its messages: permissions, plan, tasks.

Rule: progress of a todo, a confirmed requirement and a passed check are different things; none of
them completes a turn.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from turnwright.journal.messages import Frozen

Mode = Literal["default", "accept_edits", "explore", "bypass", "dont_ask"]


class Rule(Frozen):
    """A permission rule: a tool, an optional pattern on what it is called with, and who set it."""

    tool: str
    pattern: str | None = None
    source: str = ""


class PermissionState(Frozen):
    """What the agent may do unasked."""

    mode: Mode = "default"
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    working_directories: tuple[str, ...] = ()


class PlanState(Frozen):
    """Whether the agent is planning, and the plan's text."""

    active: bool = False
    document: str = ""


class MemoryState(Frozen):
    """What the agent is to know in every request of its thread. Each change raises `revision` by one."""

    revision: int = 0
    document: str = ""


class Todo(Frozen):
    """One piece of work the agent keeps track of."""

    id: str
    subject: str
    description: str = ""
    state: Literal["pending", "in_progress", "completed"] = "pending"
    owner: str | None = None
    blocks: tuple[str, ...] = Field(default=(), description="Ids of todos that wait for this one.")
    blocked_by: tuple[str, ...] = Field(default=(), description="Ids of todos this one waits for.")


Settlement = Literal["proposed", "confirmed", "rejected"]


class Requirement(Frozen):
    """Something the result must satisfy: proposed by a tool, settled by a trusted caller.

    `settled_by`, `settled_at` and `reason` say who settled it, when and why.
    """

    id: str
    text: str
    state: Settlement = "proposed"
    settled_by: str | None = None
    settled_at: str | None = None
    reason: str | None = None


class Verification(Frozen):
    """What an explicit check found about a requirement. `subject` is what was checked, such as a commit."""

    requirement: str
    passed: bool
    summary: str
    subject: str = ""
    by: str | None = None
    at: str | None = None


class TaskState(Frozen):
    """Todos, the objective and its requirements, and what was verified. Each change raises `revision` by one."""

    revision: int = 0
    todos: tuple[Todo, ...] = ()
    objective: str | None = None
    objective_state: Settlement = "proposed"
    objective_settled_by: str | None = None
    requirements: tuple[Requirement, ...] = ()
    verifications: tuple[Verification, ...] = ()
