"""What a turn does next, as data. Rule: `plan` builds one, the workflow performs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from turnwright.journal.budgets import Budget, Scope, Used

StatusFact = Literal["paused", "waiting", "continued", "completed", "failed", "cancelled", "asked", "over_budget"]


@dataclass(frozen=True, slots=True)
class ModelOp:
    """An attempt of a step's model call that may be claimed."""

    step: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class ToolOp:
    """An attempt of a tool call that may be claimed."""

    step: int
    call_id: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class ReconcileOp:
    """A call whose outcome is unknown and whose tool can be asked."""

    step: int
    call_id: str
    ordinal: int


Op: TypeAlias = ModelOp | ToolOp | ReconcileOp


@dataclass(frozen=True, slots=True)
class Start:
    """The turn is at the front and may be claimed."""


@dataclass(frozen=True, slots=True)
class Work:
    """Start these operations; `running` ones are already claimed by a living attempt."""

    start: tuple[Op, ...] = ()
    running: tuple[Op, ...] = ()


@dataclass(frozen=True, slots=True)
class Delay:
    """The next attempt may start at `until_us`; look again then, or when woken.

    `why`: a failed attempt is tried again then; or others have reserved what is left of the session's budget, and who
    gives of it back has the thread woken.
    """

    until_us: int
    delay_s: float
    why: Literal["retry", "reserved"] = "retry"


@dataclass(frozen=True, slots=True)
class OverBudget:
    """Which budget does not let an operation start, and what of it is used up.

    `reserved`: it would not be without what running model calls of other threads may still give back.
    """

    scope: Scope
    over: tuple[str, ...]
    budget: Budget
    used: Used
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A status fact is due; it is appended under the lock, never after it. `over`: the budget to ask about."""

    fact: StatusFact
    code: str = ""
    message: str = ""
    retryable: bool = True
    over: OverBudget | None = None


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing to do until a command comes: the run ends."""

    why: Literal["paused", "thread_paused", "session_paused", "waiting"]


@dataclass(frozen=True, slots=True)
class Stop:
    """This turn has nothing to do here: the run ends."""

    why: Literal["finished", "not_head", "superseded", "unknown"]


Action: TypeAlias = Start | Work | Delay | Record | Park | Stop
