"""Whether somebody carries on a thread that has work.

Rule: a turn is carried on while an operation of it is claimed by an attempt nobody gave up, or while its last
entry is younger than `stall_us`. Anything else is a stall, whatever the reason: a lost wake-up, a dead worker,
an engine that forgot everything. To be wrong about it costs a needless look, so in doubt it is a stall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from turnwright.journal.actions import Delay, Park, Stop
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.facts import Facts
from turnwright.journal.plan import plan
from turnwright.journal.settle import settle

CLOCK_SET_BACK_US = 1 * SECOND_US
"""The store's clock may differ so much from what it said before; beyond that somebody has set it back."""
BUSY_CHECK_US = 10 * SECOND_US
LAPSED_CHECK_US = 1 * SECOND_US
PARKED_CHECK_US = 5 * SECOND_US
BACKOFF_S_MAX = 30
USELESS_WAKES_MAX = 2
"""After so many wake-ups without progress, what stands still is replaced."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """Nobody carries it on. `due`: something is to be recorded now, so it is stalled however young it is.

    `soon`: it only waits, and not for long, but perhaps on a worker that is gone.
    """

    due: bool
    soon: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """There is nothing to do about it before `until_us`."""

    until_us: int


Verdict: TypeAlias = Stalled | Carried


def examine(
    control: ThreadControl,
    session: SessionControl,
    facts: Facts,
    *,
    last_entry_us: int,
    stall_us: int,
    soon_us: int = 0,
) -> Verdict:
    """Judge one thread.

    Args:
        control: the thread's control.
        session: the session's control (only its flags are read).
        facts: the store's time, who is gone, and the front of the queue if no turn is active.
        last_entry_us: when the thread was last appended to.
        stall_us: how long nothing may be appended.
        soon_us: a wait that ends within this time is a stall, as when the worker that would be told may be gone.
    """
    if settle(control, session, facts):
        return Stalled(due=True)
    active = control.active
    if active is not None and active.busy:
        lapsed = any(claim.presence in facts.lapsed for claim in active.claims)
        return Carried(facts.now_us + (LAPSED_CHECK_US if lapsed else BUSY_CHECK_US))
    turn_id = head_turn(control, facts)
    match plan(control, session, facts, turn_id or ""):
        case Park() | Stop():
            return Carried(facts.now_us + PARKED_CHECK_US)
        case Delay(until_us):
            ends_soon = until_us - facts.now_us < soon_us
            return Stalled(due=False, soon=True) if ends_soon else Carried(until_us + stall_us)
    young_until_us = last_entry_us + stall_us
    return Carried(young_until_us) if facts.now_us < young_until_us else Stalled(due=False)


def has_work(control: ThreadControl, facts: Facts) -> bool:
    """Whether the thread has something to do, its session's pause aside (that is judged by a join)."""
    turn_id = head_turn(control, facts)
    return turn_id is not None and not isinstance(plan(control, SessionControl(), facts, turn_id), Park | Stop)


def head_turn(control: ThreadControl, facts: Facts) -> str | None:
    """The turn that should be carried on: the active one, or the front of the queue."""
    if control.active is not None:
        return control.active.turn_id
    return None if facts.front is None else facts.front.turn_id


def backoff_us(wakes: int) -> int:
    """How long to wait after the n-th wake-up without progress: 1, 2, 4, 8 … 30 seconds."""
    return min(1 << min(max(wakes, 1) - 1, 10), BACKOFF_S_MAX) * SECOND_US
