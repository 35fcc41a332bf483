"""What the shell knows and the pure core must not ask for.

Rule: a decision is a function of control, session, facts and command. Anything else it needs is a
field here.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.turn_status import TurnStatus


@dataclass(frozen=True, slots=True)
class Facts:
    """The store's time (microseconds), which presences are gone, and rows of the `turns` table.

    `dead`: proven dead, their lock is free. `lapsed`: no beat for the lease, maybe frozen.
    `expired`: no beat for the lease and the grace after it, so even a `once` call is given up.
    `turn`: the row of the turn the command names. `front`: the first queued turn. `queue`: queued
    turns the command or the session's cancel concerns, a bounded number of them.
    """

    now_us: int
    dead: frozenset[str] = frozenset()
    lapsed: frozenset[str] = frozenset()
    expired: frozenset[str] = frozenset()
    turn: TurnStatus | None = None
    front: TurnStatus | None = None
    queue: tuple[TurnStatus, ...] = ()
    agent_known: bool = True
