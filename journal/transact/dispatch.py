"""What a thread should run next: settle it, then look at its active turn or the front of its queue."""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.actions import Action, Stop
from turnwright.journal.commands import Look
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script
from turnwright.journal.transact.locking import lock_in_session
from turnwright.journal.transact.thread_script import Terms, run_thread
from turnwright.journal.transact.turns import front_turn


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The turn to run or wake (None: the thread has nothing), its thread's epoch, and its next action.

    `again`: something was settled, so the next look may find more.
    """

    turn_id: str | None
    epoch: int
    action: Action
    again: bool = False
    run: str | None = None


NOTHING = Dispatch(None, 0, Stop("unknown"))


def dispatch_thread(key: ThreadKey, terms: Terms) -> Script[Dispatch]:
    """Settle the thread and say which turn is next; a thread that is gone has nothing."""
    locked = yield from lock_in_session(key)
    if locked is None or locked.session.deleted:
        return NOTHING
    row = locked.row
    turn_id = None if row.control.active is None else row.control.active.turn_id
    if turn_id is None and row.control.queued:
        front = yield from front_turn(row.id)
        turn_id = None if front is None else front.turn_id
    if turn_id is None:
        return Dispatch(None, row.control.epoch, Stop("not_head"))
    outcome = yield from run_thread(locked, Look(turn_id=turn_id), terms)
    control = outcome.control
    return Dispatch(turn_id, control.epoch, outcome.action, again=bool(outcome.entries), run=control.run)
