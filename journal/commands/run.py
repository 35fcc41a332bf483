"""Commands of a run: its claim of a turn, its looks, and its attempts' claims of operations.

Rule: it has an epoch and is recognised by its entry ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from turnwright.journal.agents import AgentDefinition
from turnwright.journal.budgets import Used
from turnwright.journal.commands.specs import CallSpec
from turnwright.journal.entries.state import ContextCompacted, ContextOffloaded, ToolsListed
from turnwright.journal.messages import Usage
from turnwright.journal.permissions.facts import CallFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """Base of what a run and its activities bring. `run` is the Temporal run id, for the records."""

    turn_id: str
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRun(RunCommand):
    """Take the turn for a Temporal run that was started at `start_epoch`."""

    start_epoch: int
    definition: AgentDefinition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(RunCommand):
    """Record what has become due, and say what is next. `epoch` None: not on a run's behalf."""

    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claiming(RunCommand):
    """Base of the claims of an operation's attempt; the journal gives the ordinal.

    `nonce` is the same when one attempt claims again because the answer of its commit was lost.
    """

    epoch: int
    step: int
    nonce: str
    presence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestModel(Claiming):
    """Claim the step's model call; what it will probably use is reserved."""

    model: str = ""
    reserve: Used = field(default_factory=Used)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactContext(RunCommand):
    """Let a part of the conversation give way before the model call that attempt `ordinal` has claimed.

    `failed`: why there is no summary, though one was wanted; `usage` is what the try took.
    """

    epoch: int
    step: int
    ordinal: int
    offloads: tuple[ContextOffloaded, ...] = ()
    compacted: ContextCompacted | None = None
    failed: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTools(RunCommand):
    """Record what sources offer now, before the model call that attempt `ordinal` has claimed."""

    epoch: int
    step: int
    ordinal: int
    listed: tuple[ToolsListed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTool(Claiming):
    """Claim a tool call. `spec` None: the worker cannot find the call any more, and will say so."""

    call_id: str
    spec: CallSpec | None = None
    facts: CallFacts | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
