"""Commands: what somebody wants to happen. A command is data; `decide` says whether it may.

Rule: a client's command has a request id and a principal and is remembered. A run's command has an
epoch (control facts) or an ordinal (testimony) and is recognised by its entry ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from turnwright.journal.agents import AgentDefinition, Effect, ToolSpec
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.entries.operation import FailureClass, InterruptReason, ToolOutcome
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.messages import Block, Media, Message, Text, Usage
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.state_ops import StateOp

IfBusy = Literal["enqueue", "reject", "interrupt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCommand:
    """Base of what callers and operators ask for. `principal` is who, as authentication knows them."""

    request_id: str
    principal: str = "local"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCommand(ClientCommand):
    """Base of commands to one turn. `DONE` is the verb people have for it: the turn is, or cannot be, so."""

    DONE: ClassVar[str]

    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit(ClientCommand):
    """Queue a task. `turn_id` is derived from thread and request id."""

    turn_id: str
    input: Message
    if_busy: IfBusy = "enqueue"
    on_failure: OnFailure | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer(TurnCommand):
    """Give a turn that has not finished another message."""

    DONE: ClassVar[str] = "steered"

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Inject(ClientCommand):
    """Give the thread material; whatever runs next sees it."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTurn(TurnCommand):
    """Stop at the next boundary."""

    DONE: ClassVar[str] = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTurn(TurnCommand):
    """End the turn's own pause; `revision` is the turn's, as the caller saw it."""

    DONE: ClassVar[str] = "resumed"

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelTurn(TurnCommand):
    """Stop for good."""

    DONE: ClassVar[str] = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTurn(TurnCommand):
    """Put a failed turn back at the head."""

    DONE: ClassVar[str] = "retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(TurnCommand):
    """Answer an open interaction."""

    DONE: ClassVar[str] = "answered"

    interaction_id: str
    resolution: str
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile(TurnCommand):
    """Say what became of a call whose outcome is unknown."""

    DONE: ClassVar[str] = "reconciled"

    call_id: str
    outcome: Literal["succeeded", "failed", "run_again"]
    output: tuple[Text | Media, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseThread(ClientCommand):
    """Start no operation on the thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeThread(ClientCommand):
    """Lift the thread's pause; `revision` is that of the flag."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelThread(ClientCommand):
    """Cancel the active turn and everything queued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseThread(ClientCommand):
    """Take no new turn; finish or cancel the queue."""

    mode: CloseMode = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPermissions(ClientCommand):
    """Change what the thread's agent may do."""

    change: PermissionChange


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBudget(ClientCommand):
    """Say what the thread, or each of its `turns` to come, may use; what is left out of it is without bound."""

    scope: Literal["thread", "turns"]
    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeState(ClientCommand):
    """Do one operation on tasks, plan or tool groups."""

    op: StateOp


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateState(ClientCommand):
    """Replace fields of the state, as it was read at the entry `expected_seq`."""

    expected_seq: int
    changes: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearContext(ClientCommand):
    """Begin the conversation anew; with `expected_seq`, only if nothing came since that entry."""

    expected_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseEntry(ClientCommand):
    """Erase the content of an entry for good; that it was there stays."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession(ClientCommand):
    """Begin a session."""

    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSession(ClientCommand):
    """Start no operation on any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSession(ClientCommand):
    """Lift the session's pause; `revision` is that of the flag."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelSession(ClientCommand):
    """Cancel every turn queued before this command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseSession(ClientCommand):
    """Take no new turn anywhere in the session."""

    mode: CloseMode = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSessionBudget(ClientCommand):
    """Say what all threads of the session may use together."""

    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSession(ClientCommand):
    """Erase the session with everything in it; only who did it and why stays."""


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


@dataclass(frozen=True, slots=True)
class CallSpec:
    """What the worker knows of a tool the model calls; absent for a tool the agent does not have.

    `inactive_group`: the tool is in this group, which is not activated, so the model was not offered it.
    """

    effect: Effect = "once"
    reconcilable: bool = False
    paths: tuple[str, ...] = ()
    command: str | None = None
    checked: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    inactive_group: str | None = None

    @classmethod
    def of(cls, tool: ToolSpec, *, active: bool = True) -> CallSpec:
        """What there is to know of a tool."""
        group = None if active else tool.group
        return cls(
            tool.effect, tool.reconcilable, tool.paths, tool.command, tool.checked, tool.parameters, group
        )  # fmt: skip

    def as_asked(self) -> dict[str, Any]:
        """What a question about a call keeps of it, so that edited arguments can be checked."""
        return {"paths": list(self.paths), "command": self.command, "parameters": self.parameters}

    @classmethod
    def of_asked(cls, effect: Effect, asked: object) -> CallSpec:
        """What a question kept; nothing, if that was erased."""
        kept: dict[str, Any] = asked if isinstance(asked, dict) else {}
        return cls(
            effect,
            paths=tuple(kept.get("paths", ())),
            command=kept.get("command"),
            parameters=kept.get("parameters", {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTool(Claiming):
    """Claim a tool call. `spec` None: the worker cannot find the call any more, and will say so."""

    call_id: str
    spec: CallSpec | None = None
    facts: CallFacts | None = None
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Testimony(RunCommand):
    """Base of what attempts report. `epoch` is that of the run that claimed.

    `blobs` holds the bytes of media the report refers to, by their SHA-256; they are stored with it.
    """

    epoch: int
    step: int
    ordinal: int
    blobs: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RespondModel(Testimony):
    """The model answered.

    `tools` holds the specs of the tools the agent has, by name; `facts` what was found out about each call, in
    the order of the calls.
    """

    blocks: tuple[Block, ...]
    usage: Usage
    finish_reason: str = "stop"
    model: str = ""
    duration_ms: int = 0
    tools: dict[str, CallSpec] = field(default_factory=dict)
    facts: tuple[CallFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailModel(Testimony):
    """The model call failed."""

    failure: FailureClass
    message: str
    retry_after_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    partial: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptModel(Testimony):
    """The model call was stopped; what had been streamed is kept."""

    reason: InterruptReason
    partial: tuple[Block, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a tool wants to know from outside instead of giving a result itself."""

    kind: Literal["form", "external"]
    asked: dict[str, Any]
    deadline_s: float | None = None
    on_expiry: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishTool(Testimony):
    """A tool's attempt ended. `effect_unknown`: it was given up while its body still ran.

    `ops` change the thread's state together with the result; `asks` goes with the outcome `deferred`.
    """

    call_id: str
    outcome: ToolOutcome
    output: tuple[Text | Media, ...] = ()
    duration_ms: int = 0
    effect_unknown: bool = False
    ops: tuple[StateOp, ...] = ()
    asks: Ask | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleCall(Testimony):
    """What a tool's reconcile hook said about a call of unknown outcome."""

    call_id: str
    outcome: Literal["succeeded", "failed", "run_again", "unknown"]
    output: tuple[Text | Media, ...] = ()


LoggedCommand: TypeAlias = (
    CreateSession | PauseSession | ResumeSession | CancelSession | CloseSession | SetSessionBudget
)
SessionCommand: TypeAlias = LoggedCommand | DeleteSession


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a command may not happen. `code` is stable; nothing was changed."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a command. `accepted` means committed; `revision` is that of what it was about."""

    request_id: str
    status: Literal["accepted", "rejected", "enlisted"]
    code: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    revision: int = 0
    seq: int = 0
    duplicate: bool = False
