"""Entries of operations: model steps and tool calls.

Rule: `model.requested` and `tool.started` are claims and come before the effect. What came of it is
testimony, and says by `ordinal` which attempt it belongs to.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from turnwright.journal.agents import Effect
from turnwright.journal.entries.base import ByPrincipal, Payload
from turnwright.journal.lineage import Parent
from turnwright.journal.messages import Block, Denier, Media, Text, Usage

FailureClass = Literal[
    "transient", "rate_limited", "timeout", "cut", "invalid", "auth", "context_length", "refused", "tools_away"
]
InterruptReason = Literal["cancelled", "lost", "drained"]
ToolOutcome = Literal["success", "error", "denied", "interrupted", "unknown", "lost", "drained", "deferred"]
InteractionKind = Literal["approval", "form", "external", "unknown_outcome", "budget"]


class ModelRequested(Payload):
    """A worker claims the step's model call. The view it sends is that of the state at `view_seq`.

    What is reserved counts against a session's budget until the attempt says what it used.
    """

    TYPE: ClassVar[str] = "model.requested"
    ordinal: int
    nonce: str
    presence: str
    view_seq: int
    model: str = ""
    reserved_tokens: int = 0
    reserved_microusd: int = 0


class ModelResponded(Payload):
    """The model's answer; closes the step's model operation. `refused_media`: what it came without, and only then."""

    TYPE: ClassVar[str] = "model.responded"
    ordinal: int
    blocks: tuple[Block, ...]
    usage: Usage = Usage()
    finish_reason: str = "stop"
    model: str = ""
    duration_ms: int = 0
    refused_media: tuple[str, ...] = ()


class ModelFailed(Payload):
    """An attempt failed. `retry_at_us` is when the next may start; None: there will be none."""

    TYPE: ClassVar[str] = "model.failed"
    ordinal: int
    failure: FailureClass
    message: str
    retry_at_us: int | None = None
    usage: Usage = Usage()
    partial: tuple[Block, ...] = ()


class ModelInterrupted(Payload):
    """An attempt ended without an answer, through no fault of the provider."""

    TYPE: ClassVar[str] = "model.interrupted"
    ordinal: int
    reason: InterruptReason
    partial: tuple[Block, ...] = ()
    usage: Usage = Usage()


class ModelLate(Payload):
    """What an attempt brought after its step was settled: kept and counted, not applied."""

    TYPE: ClassVar[str] = "model.late"
    ordinal: int
    what: Literal["responded", "failed", "interrupted"]
    blocks: tuple[Block, ...] = ()
    usage: Usage = Usage()


class ToolDecided(Payload):
    """Whether a call may run, and on whose word. `arguments`: what whoever approved it changed them to."""

    TYPE: ClassVar[str] = "tool.decided"
    call_id: str
    name: str
    decision: Literal["allow", "deny", "ask"]
    source: str
    effect: Effect
    arguments_digest: str
    reconcilable: bool = False
    arguments: dict[str, Any] | None = None


class ToolStarted(Payload):
    """A worker claims the call. `key` is the idempotency key: the turn and the call, never the attempt."""

    TYPE: ClassVar[str] = "tool.started"
    call_id: str
    name: str
    ordinal: int
    nonce: str
    presence: str
    key: str
    arguments: dict[str, Any] | None = None


class ToolFinished(Payload):
    """An attempt's end. `lost`, `drained` (handed over) and `deferred` (its result comes from outside) close
    only the attempt, the others the call. `by`: who denied it, if it was denied.
    """

    TYPE: ClassVar[str] = "tool.finished"
    call_id: str
    name: str
    ordinal: int
    outcome: ToolOutcome
    output: tuple[Text | Media, ...] = ()
    duration_ms: int = 0
    effect_unknown: bool = False
    by: Denier = "person"


class ToolLate(Payload):
    """A result that came after its call was settled: kept and visible, not applied."""

    TYPE: ClassVar[str] = "tool.late"
    call_id: str
    name: str
    ordinal: int
    outcome: ToolOutcome
    output: tuple[Text | Media, ...] = ()
    duration_ms: int = 0


class ToolReconciled(ByPrincipal):
    """An unknown outcome was settled, by the tool's hook (`by="hook"`) or a person."""

    TYPE: ClassVar[str] = "tool.reconciled"
    call_id: str
    name: str
    outcome: Literal["succeeded", "failed", "run_again"]
    output: tuple[Text | Media, ...] = ()
    by: Literal["hook", "person"] = "person"


class InteractionRequested(Payload):
    """A question to a person or an outside system. `parent`: the call of another turn that opened the one that asks.

    `again`: its answer is not the call's result; the tool is called again and is given it.
    """

    TYPE: ClassVar[str] = "interaction.requested"
    interaction_id: str
    kind: InteractionKind
    call_id: str | None = None
    arguments_digest: str | None = None
    asked: dict[str, Any] = Field(default_factory=dict)
    deadline_us: int | None = None
    on_expiry: str | None = None
    parent: Parent | None = None
    again: bool = False


class InteractionResolved(ByPrincipal):
    """The question was answered, or closed with its turn (`resolution="cancelled"`)."""

    TYPE: ClassVar[str] = "interaction.resolved"
    interaction_id: str
    resolution: str
    answer: dict[str, Any] = Field(default_factory=dict)


class InteractionExpired(Payload):
    """The deadline passed first; `resolution` is what that means."""

    TYPE: ClassVar[str] = "interaction.expired"
    interaction_id: str
    resolution: str
