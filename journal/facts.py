"""What the shell knows and the pure core must not ask for.

Rule: a decision is a function of control, session, facts and command. Anything else it needs is a
field here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import NOTHING, Used
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Entry, InteractionRequested
from turnwright.journal.interactions import Interaction, settlement
from turnwright.journal.turn_status import TurnStatus, evolve_status


@dataclass(frozen=True, slots=True)
class Facts:
    """The store's time (microseconds), which presences are gone, and rows of the `turns` table.

    `dead`: proven dead, their lock is free. `lapsed`: no beat for the lease, maybe frozen.
    `expired`: no beat for the lease and the grace after it, so even a `once` call is given up.
    `turn`: the row of the turn the command names. `front`: the first queued turn. `queue`: queued
    turns the command or the session's cancel concerns, a bounded number of them.
    `question` and `asked`: the row of the question the command answers, and its entry's payload (None: erased).
    `state`: the agent's state, for commands that change a part of it. `base` and `base_hash`: the state at the entry
    that the command goes back to, and that entry's hash; None: the thread has no such entry. `elsewhere`: what other
    threads of the session used, where its budget counts; None: it has none, or nothing may start here. `reserved`: what
    their running model calls took beside that, and may give back. `repeated`: what the command records stands in the
    journal already, for the answer of its first commit was lost.
    """

    now_us: int
    dead: frozenset[str] = frozenset()
    lapsed: frozenset[str] = frozenset()
    expired: frozenset[str] = frozenset()
    turn: TurnStatus | None = None
    front: TurnStatus | None = None
    queue: tuple[TurnStatus, ...] = ()
    question: Interaction | None = None
    asked: InteractionRequested | None = None
    state: AgentState | None = None
    base: AgentState | None = None
    base_hash: bytes = b""
    elsewhere: Used | None = None
    reserved: Used = NOTHING
    repeated: bool = False

    @property
    def now(self) -> datetime:
        """The store's time, UTC."""
        return datetime.fromtimestamp(self.now_us / SECOND_US, UTC)

    def due_us(self, in_s: float | None) -> int | None:
        """The time that many seconds from now; None stays without one."""
        return None if in_s is None else self.now_us + round(in_s * SECOND_US)

    def after(self, entries: Iterable[Entry]) -> Facts:
        """The facts once these entries are committed: rows follow their entries.

        A front that left the queue is followed by the first of the other rows that is still queued.
        """
        entries = tuple(entries)
        rows = {row.turn_id: row for row in (*self.queue, *(r for r in (self.front, self.turn) if r is not None))}
        for entry in entries:
            row = rows.get(entry.turn_id or "")
            if row is not None:
                rows[row.turn_id] = evolve_status(row, entry)
        queued = sorted((row for row in rows.values() if row.phase == "queued"), key=lambda row: row.queue_order)
        return replace(
            self,
            turn=None if self.turn is None else rows[self.turn.turn_id],
            front=None if self.front is None or not queued else queued[0],
            queue=tuple(rows[row.turn_id] for row in self.queue),
            question=None if self.question is None else _question_after(self.question, entries),
        )


def _question_after(question: Interaction, entries: Iterable[Entry]) -> Interaction:
    """A question once these entries are committed."""
    for entry in entries:
        end = settlement(entry)
        if end is not None and end.interaction_id == question.interaction_id:
            question = end.of(question)
    return question
