"""What attempts report.

Rule: testimony has the ordinal of its attempt, and is taken whatever became of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from turnwright.journal.budgets import Budget, Used
from turnwright.journal.commands.run import RunCommand
from turnwright.journal.commands.specs import CallSpec
from turnwright.journal.entries.operation import FailureClass, InterruptReason, ToolOutcome
from turnwright.journal.lineage import ChildPlace
from turnwright.journal.messages import Block, Media, Text, Usage
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.state_ops import StateOp
from turnwright.journal.turn_status import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Testimony(RunCommand):
    """Base of what attempts report. `epoch` is that of the run that claimed.

    `blobs` holds the bytes of media the report refers to, by their SHA-256; they are stored with it. `drafted`: what a
    model said was written while it ran, for who listened, and goes with the report.
    """

    epoch: int
    step: int
    ordinal: int
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    drafted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RespondModel(Testimony):
    """The model answered.

    `tools` holds the specs of the tools the agent has, by name; `facts` what was found out about each call, in
    the order of the calls. `refused_media`: media that were left out after the request with them had been refused.
    """

    blocks: tuple[Block, ...]
    usage: Usage
    finish_reason: str = "stop"
    model: str = ""
    duration_ms: int = 0
    tools: dict[str, CallSpec] = field(default_factory=dict)
    facts: tuple[CallFacts, ...] = ()
    refused_media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailModel(Testimony):
    """The model call failed. `suspects`: the request held media that it may have been refused for."""

    failure: FailureClass
    message: str
    retry_after_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    partial: tuple[Block, ...] = ()
    suspects: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptModel(Testimony):
    """The model call was stopped; what had been streamed is kept."""

    reason: InterruptReason
    partial: tuple[Block, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a tool wants to know from outside instead of giving a result itself.

    `again`: with the answer it is called again. An `approval` is one of the call itself, on the agent's terms.
    """

    kind: Literal["form", "external", "approval"]
    asked: dict[str, Any]
    deadline_s: float | None = None
    on_expiry: str | None = None
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """A turn of another agent that a tool opens; its end is the call's result, unless it is `detached`.

    `siblings` are the calls of the same step that open one too, this one among them: they share what is left of the
    parent's budget.
    """

    place: ChildPlace
    task: str
    detached: bool = False
    budget: Budget | None = None
    siblings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishTool(Testimony):
    """A tool's attempt ended. `effect_unknown`: it was given up while its body still ran.

    `ops` change the thread's state together with the result; `asks` and `spawns` go with the outcome `deferred`. `name`
    is the tool's, for a result that comes when the journal has left the call behind.
    """

    call_id: str
    outcome: ToolOutcome
    name: str = ""
    output: tuple[Text | Media, ...] = ()
    duration_ms: int = 0
    effect_unknown: bool = False
    ops: tuple[StateOp, ...] = ()
    asks: Ask | None = None
    spawns: Spawn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleCall(Testimony):
    """What a tool's reconcile hook said about a call of unknown outcome."""

    call_id: str
    outcome: Literal["succeeded", "failed", "run_again", "unknown"]
    output: tuple[Text | Media, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndChild(RunCommand):
    """What became of a child of the turn. It is no run's: the child's own transaction asked for it."""

    child_turn: str
    phase: Phase
    used: Used
    outcome: Literal["success", "error"]
    output: tuple[Text | Media, ...] = ()
