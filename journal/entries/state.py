"""Entries that change the agent's state without being part of an operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from turnwright.journal.agents import ToolSpec
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.entries.base import ByPrincipal, Payload
from turnwright.journal.messages import Message, Usage
from turnwright.journal.state_parts import MemoryState, PermissionState, PlanState, TaskState


class ContextCompacted(Payload):
    """The messages of the entries in [from_seq, to_seq], but for those in `kept`, are replaced by `summary`.

    `usage`: what writing the summary took.
    """

    TYPE: ClassVar[str] = "context.compacted"
    from_seq: int
    to_seq: int
    summary: str
    kept: tuple[int, ...] = ()
    usage: Usage = Usage()

    def replaces(self, seq: int) -> bool:
        """Whether that entry's messages are replaced."""
        return self.from_seq <= seq <= self.to_seq and seq not in self.kept


class ContextCompactionRequested(ByPrincipal):
    """Something of the conversation shall give way before the next model call, however long it is."""

    TYPE: ClassVar[str] = "context.compaction_requested"


class ContextCompactionFailed(Payload):
    """No summary took the place of anything: why, how many tokens the request had, and what the try used."""

    TYPE: ClassVar[str] = "context.compaction_failed"
    reason: str
    tokens: int = 0
    usage: Usage = Usage()


class ContextCleared(ByPrincipal):
    """The context and its summary begin anew; the history stays in the journal."""

    TYPE: ClassVar[str] = "context.cleared"


class ContextOffloaded(Payload):
    """A tool result gave way to `stub` in the context; its whole text stays where it was, in the entry `result_seq`."""

    TYPE: ClassVar[str] = "context.offloaded"
    call_id: str
    result_seq: int
    stub: str


class PermissionsChanged(ByPrincipal):
    """The permissions after the change."""

    TYPE: ClassVar[str] = "permissions.changed"
    permissions: PermissionState


class TasksChanged(ByPrincipal):
    """The tasks after the change."""

    TYPE: ClassVar[str] = "tasks.changed"
    tasks: TaskState


class PlanChanged(ByPrincipal):
    """The plan after the change."""

    TYPE: ClassVar[str] = "plan.changed"
    plan: PlanState


class MemoryChanged(ByPrincipal):
    """The memory document after the change."""

    TYPE: ClassVar[str] = "memory.changed"
    memory: MemoryState


class ToolsChanged(ByPrincipal):
    """The activated tool groups after the change."""

    TYPE: ClassVar[str] = "tools.changed"
    groups: tuple[str, ...]


class ToolsListed(Payload):
    """What a source of tools has to offer now; it replaces what it listed before."""

    TYPE: ClassVar[str] = "tools.listed"
    source: str
    tools: tuple[ToolSpec, ...] = ()


class BudgetChanged(ByPrincipal):
    """A budget after the change: of the turn the entry names, of the thread, or of each `turns` to come."""

    TYPE: ClassVar[str] = "budget.changed"
    scope: Literal["turn", "thread", "turns"]
    budget: Budget


class StateUpdated(ByPrincipal):
    """An administrator's change of state fields, by name."""

    TYPE: ClassVar[str] = "state.updated"
    changes: dict[str, Any] = Field(default_factory=dict)

    def parts(self) -> Iterator[object]:
        """Messages among the changes as such; they stand there as plain JSON."""
        yield from super().parts()
        yield from map(Message.model_validate, self.changes.get("context", ()))


class ChildSpawned(Payload):
    """A call of this turn opened a turn on another thread, which is submitted with it.

    `agent` and `child_thread` name that thread, of the same session, `depth` how many turns are above the child, and
    `budget` is the child's, with its share of the parent's. Nobody waits for a `detached` one.
    """

    TYPE: ClassVar[str] = "child.spawned"
    call_id: str
    agent: str
    child_thread: str
    child_turn: str
    request_id: str
    task: str
    depth: int
    detached: bool = False
    budget: Budget | None = None


class ChildFinished(Payload):
    """The other thread's turn ended; `used` is what it and its own children took of this turn's budget."""

    TYPE: ClassVar[str] = "child.finished"
    call_id: str
    child_turn: str
    phase: str
    used: Used = Used()


class UsageCounted(ByPrincipal):
    """What a model call took that belongs to no turn: a title or a summary of the session was made."""

    TYPE: ClassVar[str] = "usage.counted"
    usage: Usage


class EntryErased(ByPrincipal):
    """The payload of entry `erased_seq` was erased; its hash still stands in the chain.

    Below zero it is one of the thread that this one was forked from: -1 is the entry it was forked at.
    """

    TYPE: ClassVar[str] = "entry.erased"
    erased_seq: int
