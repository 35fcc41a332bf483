"""ThreadControl and SessionControl: what the next decision needs to know, small and bounded.

Rule: control is a fold of the entries and of nothing else. It never holds a list that grows with the
thread: the queue lives in the `turns` table, remembered requests in `requests`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from turnwright.journal.agents import ApprovalTerms, Effect, Limits
from turnwright.journal.budgets import Budget, Scope, Used
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.entries.turn import CancelSource, OnFailure
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Frozen
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.turn_status import TurnStatus

REDUCER_VERSION = 3

CallState = Literal["ready", "asking", "running", "deferred", "unknown", "closed"]


class PauseFlag(Frozen):
    """One level's pause flag. The revision rises by one with each change; `seq` is the entry that set it."""

    on: bool = False
    revision: int = 0
    source: str = ""
    seq: int = 0


class Claim(Frozen):
    """Which attempt runs an operation: its worker's presence, its run's epoch, and when it began."""

    nonce: str
    presence: str
    epoch: int
    at_us: int


class ModelOperation(Frozen):
    """The open model call of a step. `failures` counts attempts that failed, by class.

    `reserved` is what the running attempt is expected to use.
    """

    step: int
    ordinal: int = 0
    claim: Claim | None = None
    failures: dict[str, int] = Field(default_factory=dict)
    lost: int = 0
    retry_at_us: int = 0
    reserved: Used = Used()


class CallOperation(Frozen):
    """One tool call of the active step.

    `written_off`: somebody said "run again" about the attempts up to this ordinal, so what they still bring
    is late. `unsure`: it was closed without anybody knowing whether it had its effect. `approved`: a person
    allowed it with the arguments of `digest`; `asks` counts how often somebody was asked.
    """

    call_id: str
    name: str
    effect: Effect
    digest: str
    reconcilable: bool = False
    state: CallState = "ready"
    ordinal: int = 0
    claim: Claim | None = None
    lost: int = 0
    written_off: int = 0
    unsure: bool = False
    approved: bool = False
    asks: int = 0


class OpenInteraction(Frozen):
    """A question nobody has answered yet. `scope`: whose budget a question about a budget is about, `over`: what
    of it is used up. `again`: with its answer the tool is called again.
    """

    interaction_id: str
    kind: InteractionKind
    scope: Scope | None = None
    over: tuple[str, ...] = ()
    call_id: str | None = None
    deadline_us: int | None = None
    on_expiry: str | None = None
    again: bool = False


class OpenChild(Frozen):
    """A turn on another thread whose end is the result of a call. `budget` has its share of this turn's."""

    call_id: str
    agent: str
    thread: str
    turn_id: str
    budget: Budget | None = None

    def beside(self, parent: ThreadKey) -> ThreadKey:
        """Its thread, seen from that of its parent."""
        return replace(parent, agent=self.agent, thread=self.thread)


class Failing(Frozen):
    """Why the active turn is about to fail."""

    code: str
    message: str
    retryable: bool = True


class ActiveTurn(Frozen):
    """The turn at the head, from its start to its end.

    `inputs` counts what was accepted for it and no model has been sent yet; `answer` is the message
    that ends the turn unless something new came in. `used` counts since this start of the turn, `budget` is its
    own (None: the thread's for its turns), `busy_since_us` is when the operations that run now began. `by_children` is
    what its children used that have ended, which counts for its budget alone: their threads count it for themselves.
    """

    status: TurnStatus
    inputs: int = 1
    step: int = 0
    model: ModelOperation | None = None
    calls: tuple[CallOperation, ...] = ()
    interactions: tuple[OpenInteraction, ...] = ()
    children: tuple[OpenChild, ...] = ()
    by_children: Used = Used()
    answer: str | None = None
    failing: Failing | None = None
    cancel: CancelSource | None = None
    cancelled_by: str = ""
    cancel_reason: str | None = None
    used: Used = Used()
    budget: Budget | None = None
    busy_since_us: int | None = None
    tool_time_ms: int = 0
    idle_runs: int = 0
    first_step: int = 0

    @property
    def turn_id(self) -> str:
        """The turn's id."""
        return self.status.turn_id

    def call(self, call_id: str) -> CallOperation | None:
        """The call of the active step with that id."""
        return next((call for call in self.calls if call.call_id == call_id), None)

    def interaction(self, interaction_id: str) -> OpenInteraction | None:
        """The open interaction with that id."""
        return next((i for i in self.interactions if i.interaction_id == interaction_id), None)

    def asked_about(self, call_id: str) -> OpenInteraction | None:
        """The open interaction about that call."""
        return next((i for i in self.interactions if i.call_id == call_id), None)

    def child(self, turn_id: str) -> OpenChild | None:
        """The open child with that turn."""
        return next((child for child in self.children if child.turn_id == turn_id), None)

    @property
    def waits(self) -> bool:
        """Whether somebody else has to do something before all of its calls have a result."""
        return bool(self.interactions or self.children)

    @property
    def steps_used(self) -> int:
        """Model steps begun since this start of the turn; a retry gets the whole budget again."""
        return self.step - self.first_step

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of all running operations."""
        model = () if self.model is None or self.model.claim is None else (self.model.claim,)
        return model + tuple(call.claim for call in self.calls if call.claim is not None)

    @property
    def busy(self) -> bool:
        """Whether an operation is running (claimed by an attempt that was not given up)."""
        return bool(self.claims)


class ThreadControl(Frozen):
    """What decides about a thread. `epoch` and `run` name the newest run that claimed a turn.

    `failed` is the turn that ended last, while it may be retried; `failed_inputs` counts what it was given and
    no model was sent, which waits for the retry. `planning`: a plan is active, so the agent may only look.
    `turn_budget` is that of each turn without one of its own, `used` what the thread used since it began.
    """

    reducer_version: int = REDUCER_VERSION
    seq: int = 0
    opened: bool = False
    closed: bool = False
    limits: Limits = Limits()
    permissions: PermissionState = PermissionState()
    approvals: ApprovalTerms = ApprovalTerms()
    planning: bool = False
    budget: Budget | None = None
    turn_budget: Budget | None = None
    used: Used = Used()
    on_failure: OnFailure = "continue"
    pause: PauseFlag = PauseFlag()
    epoch: int = 0
    run: str | None = None
    queued: int = 0
    injected: int = 0
    active: ActiveTurn | None = None
    failed: TurnStatus | None = None
    failed_inputs: int = 0

    def turn(self, turn_id: str) -> ActiveTurn | None:
        """The active turn, if it is this one."""
        return self.active if self.active is not None and self.active.turn_id == turn_id else None


class Scheduled(Frozen):
    """One of a session's schedules: the number of the entry that made it, and whether it is paused.

    `changes` counts what was done to it since, the last at `changed_us`. `paused_us` and `resumed_us`: its last pause.
    """

    generation: int
    created_us: int
    changed_us: int
    changes: int = 0
    paused: bool = False
    paused_us: int = 0
    resumed_us: int = 0


class SessionControl(Frozen):
    """What decides about a session. Turns queued before `cancelled_seq` are to be cancelled. `schedules` by name; a
    session has few. `summary` is of its first thread, up to the entry `summarised_seq`; `undescribed` counts the times
    since then that a model was asked for one, or for a title, and brought none, the last after the entry
    `undescribed_seq`.
    """

    reducer_version: int = REDUCER_VERSION
    seq: int = 0
    created: bool = False
    title: str | None = None
    summary: str = ""
    summarised_seq: int = 0
    undescribed: int = 0
    undescribed_seq: int = 0
    closed: bool = False
    budget: Budget | None = None
    pause: PauseFlag = PauseFlag()
    cancelled_seq: int = 0
    cancelled_by: str = ""
    cancel_reason: str | None = None
    schedules: dict[str, Scheduled] = Field(default_factory=dict)
