"""Entries of a turn's life, and of the input it works on."""

from __future__ import annotations

from typing import ClassVar, Literal

from turnwright.journal.budgets import Budget
from turnwright.journal.entries.base import ByPrincipal, Payload
from turnwright.journal.lineage import Parent
from turnwright.journal.messages import Message

OnFailure = Literal["continue", "hold"]
Place = Literal["tail", "head"]
CancelSource = Literal["turn", "thread", "session", "interrupt", "close"]


class RunClaimed(Payload):
    """A Temporal run took the turn; the envelope's epoch is what it was given.

    `waits`: the turn waited then for what other threads of its session had reserved.
    """

    TYPE: ClassVar[str] = "run.claimed"
    start_epoch: int
    temporal_run_id: str
    waits: bool = False


class TurnQueued(ByPrincipal):
    """A task was submitted. `session_seq` is how far the session's log had come by then; `parent` opened a child."""

    TYPE: ClassVar[str] = "turn.queued"
    request_id: str
    input: Message
    place: Place = "tail"
    session_seq: int = 0
    on_failure: OnFailure | None = None
    budget: Budget | None = None
    parent: Parent | None = None


class TurnStarted(Payload):
    """The turn became the active one. `queued_seq`, `session_seq`, `budget` and `parent` repeat its `turn.queued`."""

    TYPE: ClassVar[str] = "turn.started"
    queued_seq: int
    session_seq: int
    steps: int = 0
    budget: Budget | None = None
    parent: Parent | None = None
    revision: int


class TurnPauseRequested(ByPrincipal):
    """No new operation starts; the pause takes effect when the running ones ended."""

    TYPE: ClassVar[str] = "turn.pause_requested"
    revision: int


class TurnPaused(ByPrincipal):
    """The turn's own pause is in effect."""

    TYPE: ClassVar[str] = "turn.paused"
    revision: int


class TurnResumed(ByPrincipal):
    """The turn's own pause ended, or was withdrawn before it took effect."""

    TYPE: ClassVar[str] = "turn.resumed"
    revision: int


class TurnWaiting(Payload):
    """Nothing runs and nothing may start before the open interactions are answered."""

    TYPE: ClassVar[str] = "turn.waiting"
    interactions: tuple[str, ...]
    revision: int


class TurnContinued(Payload):
    """The last open interaction was settled: the turn is running again."""

    TYPE: ClassVar[str] = "turn.continued"
    revision: int


class TurnCancelRequested(ByPrincipal):
    """The turn is to stop; no operation starts any more."""

    TYPE: ClassVar[str] = "turn.cancel_requested"
    source: CancelSource = "turn"
    revision: int


class TurnCancelled(ByPrincipal):
    """The turn stopped on request. `effects_unknown`: of which calls nobody knows whether they had their effect."""

    TYPE: ClassVar[str] = "turn.cancelled"
    VERSION: ClassVar[int] = 2
    source: CancelSource = "turn"
    effects_unknown: str | None = None
    revision: int


class TurnCompleted(Payload):
    """The turn did what it could; `output_message` is the id of the answer."""

    TYPE: ClassVar[str] = "turn.completed"
    output_message: str | None = None
    revision: int


class TurnFailed(Payload):
    """The turn cannot go on. `code` is stable, `retryable` says whether `retry` makes sense."""

    TYPE: ClassVar[str] = "turn.failed"
    VERSION: ClassVar[int] = 2
    code: str
    message: str
    retryable: bool = True
    revision: int


class TurnRetried(ByPrincipal):
    """A failed turn is at the head of the queue again; `session_seq` is how far the session's log had come."""

    TYPE: ClassVar[str] = "turn.retried"
    session_seq: int = 0
    revision: int


class InputSteered(ByPrincipal):
    """A message for the turn, seen by its next model call."""

    TYPE: ClassVar[str] = "input.steered"
    message: Message


class InputInjected(ByPrincipal):
    """Material for whatever runs next on the thread; starts nothing."""

    TYPE: ClassVar[str] = "input.injected"
    message: Message


class InputApplied(Payload):
    """Everything pending for the turn (and the thread) up to `through_seq` joined the context."""

    TYPE: ClassVar[str] = "input.applied"
    through_seq: int


class InputDiscarded(Payload):
    """What was still pending for the turn up to `through_seq` will never be seen by a model."""

    TYPE: ClassVar[str] = "input.discarded"
    through_seq: int
    why: str
