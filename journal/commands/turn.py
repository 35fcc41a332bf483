"""Commands to one turn. `DONE` is the verb people have for each: the turn is, or cannot be, so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from turnwright.journal.budgets import Budget
from turnwright.journal.commands.base import ClientCommand, TurnCommand
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.lineage import Parent
from turnwright.journal.messages import Media, Message, Text

IfBusy = Literal["enqueue", "reject", "interrupt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit(ClientCommand):
    """Queue a task. `turn_id` is derived from thread and request id."""

    turn_id: str
    input: Message
    if_busy: IfBusy = "enqueue"
    on_failure: OnFailure | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeIn(Submit):
    """Queue a task that was enlisted in a transaction of its caller, who is gone: what is against it fails the turn.

    `parent`: the call of another turn whose transaction that was.
    """

    parent: Parent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer(TurnCommand):
    """Give a turn that has not finished another message."""

    DONE: ClassVar[str] = "steered"

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
