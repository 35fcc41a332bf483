"""What crosses Temporal: ids, numbers and small decisions, one dataclass for each direction.

Rule: never a message, an argument or a result. Each field here is paid for in every step's history.
`thread` is a thread key's canonical text everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from turnwright.journal.actions import Action, Delay, ModelOp, Op, Park, Record, Start, Stop, ToolOp, Work

SESSION_WORKFLOW = "Session"
THREAD_WORKFLOW = "Thread"
TURN_WORKFLOW = "Turn"
TICK_WORKFLOW = "Tick"
WAKE = "wake"
LEFT = "left"
HAND_TYPED = frozenset({"pause", "resume", "cancel"})
HEARTBEAT_TIMEOUT_S = 20

OpKind = Literal["model", "tool", "reconcile"]


@dataclass(frozen=True)
class ThreadInput:
    """Start of a thread's workflow."""

    thread: str


@dataclass(frozen=True)
class DispatchInput:
    """A thread looks for what to run. `nudge`: a parked turn's run may still be open, and should look too."""

    thread: str
    nudge: bool


@dataclass(frozen=True)
class SessionInput:
    """Start of a session's workflow: the session key's canonical text, and where its fan-out goes on."""

    session: str
    after_thread: int = 0


@dataclass(frozen=True)
class TickInput:
    """A time of a schedule has come, in seconds since 1970 UTC; `generation` tells it from others of its name."""

    session: str
    name: str
    generation: int
    due_s: int = 0


@dataclass(frozen=True)
class TickTaken:
    """What became of a tick: the turn, or the code why there is none."""

    turn: str = ""
    code: str = ""


@dataclass(frozen=True)
class TurnInput:
    """Start of a turn's workflow, at the journal's epoch of that moment."""

    thread: str
    turn: str
    epoch: int


@dataclass(frozen=True)
class ClaimInput:
    """A run wants its turn."""

    thread: str
    turn: str
    epoch: int
    run: str


@dataclass(frozen=True)
class LookInput:
    """A run asks what is next."""

    thread: str
    turn: str
    epoch: int


@dataclass(frozen=True)
class StepInput:
    """An operation to carry out: a model step, or with `call` a tool call of it. The journal knows whose turn it is."""

    turn: str
    epoch: int
    step: int
    call: str = ""


@dataclass(frozen=True)
class HandTyped:
    """A command that came by signal from Temporal's own tools and is not in the journal yet."""

    thread: str
    turn: str
    name: str
    request: str


@dataclass(frozen=True)
class OpRef:
    """An operation's next attempt; crosses Temporal as one short text."""

    kind: OpKind
    step: int
    ordinal: int = 1
    call: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.step} {self.ordinal} {self.call}".rstrip()

    @classmethod
    def parse(cls, text: str) -> OpRef:
        """The operation from its text."""
        kind, step, ordinal, *call = text.split(" ", 3)
        return cls(kind, int(step), int(ordinal), *call)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Next:
    """What a turn does next, as of the journal's `seq`; `start` holds the operations that may start, as texts."""

    kind: Literal["work", "delay", "park", "stop", "agent_unknown"]
    seq: int = 0
    start: list[str] = field(default_factory=list)
    why: str = ""

    @property
    def operations(self) -> list[OpRef]:
        """The operations that may start."""
        return [OpRef.parse(text) for text in self.start]

    @property
    def delay_s(self) -> float:
        """How long a `delay` is."""
        return float(self.why)


@dataclass(frozen=True)
class Claimed:
    """The journal's epoch, what is next, and whether the run was given the turn (then the epoch is its own)."""

    epoch: int
    next: Next
    has_turn: bool = True


@dataclass(frozen=True)
class Dispatched:
    """What a thread's look did: whether to look again at once, and which turn was woken."""

    again: bool
    turn: str = ""


@dataclass(frozen=True)
class FannedOut:
    """How far a session's fan-out came; `after_thread` 0: done."""

    after_thread: int
    woken: int


def next_of(action: Action, seq: int) -> Next:
    """An action as it crosses Temporal."""
    match action:
        case Work(start):
            return Next("work", seq, [str(_ref(op)) for op in start])
        case Delay(_, delay_s):
            return Next("delay", seq, why=f"{delay_s:.3f}")
        case Park(why):
            return Next("park", seq, why=why)
        case Stop(why):
            return Next("stop", seq, why=why)
        case Start():
            return Next("stop", seq, why="not_claimed")
        case Record():
            return Next("work", seq)


def _ref(op: Op) -> OpRef:
    match op:
        case ModelOp(step, ordinal):
            return OpRef("model", step, ordinal)
        case ToolOp(step, call_id, ordinal):
            return OpRef("tool", step, ordinal, call_id)
        case _:
            return OpRef("reconcile", op.step, op.ordinal, op.call_id)
