"""What a random fault test does, drawn from its seed before anything happens.

Rule: nothing here looks at the world, so a seed always means the same moves, and a longer run of it begins as the
shorter one does. What comes of a move depends on the moment, and may be a rejection.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from tests.faults.harness.scripts import Step, call, say
from turnwright.journal.commands import IfBusy
from turnwright.journal.entries.turn import OnFailure

What: TypeAlias = Literal[
    "submit", "steer", "inject", "pause_turn", "resume_turn", "cancel_turn", "retry", "pause_thread", "resume_thread",
    "cancel_thread", "pause_session", "resume_session", "cancel_session", "answer", "kill", "freeze", "cut",
    "terminate", "terminate_workflow",
]  # fmt: skip
WEIGHTS: Mapping[What, int] = {
    "submit": 36, "steer": 14, "inject": 6, "pause_turn": 10, "resume_turn": 18, "cancel_turn": 3, "retry": 12,
    "pause_thread": 4, "resume_thread": 10, "cancel_thread": 1, "pause_session": 2, "resume_session": 8,
    "cancel_session": 1, "answer": 12, "kill": 8, "freeze": 6, "cut": 6, "terminate": 5, "terminate_workflow": 5,
}  # fmt: skip
THREADS = ("one", "two", "three")
IF_BUSY: tuple[IfBusy, ...] = (*("enqueue",) * 8, "interrupt", "reject")
ON_FAILURE: tuple[OnFailure | None, ...] = (None, None, None, "hold", "continue")
PAUSES_S = (0.0, 0.0, 0.02, 0.1, 0.3, 0.7)
LASTS_S = (0.0, 0.1, 0.4, 1.0, 2.0)
BACK_MAX = 6
TOOLS = ("look", "charge", "post", "post", "transfer")
GUARDS: tuple[Step, ...] = (
    {"fail": "transient", "times": 1},
    {"fail": "timeout", "times": 2},
    {"cut": "I was about to", "times": 1},
    {"delay_s": 0.3},
)
FATAL: Step = {"fail": "invalid"}
POINTS = (
    "commit", "committed", "thread:looked", "turn:claiming", "model:begun", "model:claimed", "model:answered",
    "model:reported", "tool:begun", "tool:claimed", "tool:ran", "tool:reported",
)  # fmt: skip
KINDS = (
    *("",) * 3, *("kill",) * 2, *("stop",) * 2, "raise", "delay=0.5", "drop", "deafen", *("raise@committed",) * 2,
)  # fmt: skip
LEASES: tuple[Mapping[str, object], ...] = ({}, {"lease_s": 1.0, "once_grace_s": 0.0}, {"lease_s": 2.0})


@dataclass(frozen=True)
class Move:
    """One thing that is done, with everything that any kind of it needs.

    `back` counts turns from the newest one, `worker` says which of those that work, `fault` is what the worker that
    replaces it will suffer, `harm_s` how long it is frozen or the store cut off. A `muted` command's wake-up is lost;
    an answer that is not `knowing` gives a call up.
    """

    what: What
    pause_s: float
    thread: str
    back: int
    worker: int
    fault: str
    harm_s: float
    muted: bool
    knowing: bool
    if_busy: IfBusy
    on_failure: OnFailure | None
    steps: tuple[Step, ...]


def draw_settings(seed: int) -> Mapping[str, object]:
    """How soon workers of this run take each other for gone."""
    return Random(f"settings {seed}").choice(LEASES)


def draw_first_fault(seed: int) -> str:
    """What one of the first workers suffers."""
    return _draw_fault(Random(f"first {seed}"))


def draw_moves(seed: int, count: int) -> list[Move]:
    """What happens."""
    random = Random(seed)
    threads = THREADS[: random.choice((2, 3))]
    return [_draw_move(random, threads) for _ in range(count)]


def _draw_move(random: Random, threads: tuple[str, ...]) -> Move:
    return Move(
        what=random.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0],
        pause_s=random.choice(PAUSES_S),
        thread=random.choice(threads),
        back=min(int(random.expovariate(0.7)), BACK_MAX),
        worker=random.randrange(1_000),
        fault=_draw_fault(random),
        harm_s=random.uniform(0.1, 3.0),
        muted=random.random() < 0.3,
        knowing=random.random() < 0.8,
        if_busy=random.choice(IF_BUSY),
        on_failure=random.choice(ON_FAILURE),
        steps=tuple(_draw_steps(random)),
    )


def _draw_fault(random: Random) -> str:
    """Often none; else something at a point, or acknowledgements that all get lost."""
    at, point = random.randint(1, 12), random.choice(POINTS)
    kind = random.choice(KINDS)
    if kind in ("", "raise@committed"):
        return f"{kind}:1+" if kind else ""
    return f"{kind}@{point}:{at}"


def _draw_steps(random: Random) -> Iterator[Step]:
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        if random.random() < 0.25:
            yield random.choice(GUARDS)
        if random.random() < 0.06:
            yield FATAL
        yield random.choice((_draw_call, _draw_call, _draw_calls))(random)
    yield say("{result}", delay_s=random.choice((0.0, 0.0, 0.05)))


def _draw_call(random: Random) -> Step:
    return call(random.choice(TOOLS), lasts_s=random.choice(LASTS_S))


def _draw_calls(random: Random) -> Step:
    """Several side by side, of which one may be of a tool that is not there."""
    names = [random.choice((*TOOLS, "nothing")) for _ in range(random.choice((2, 3)))]
    return {"call": [{"name": name, "arguments": {"lasts_s": random.choice(LASTS_S)}} for name in names]}
