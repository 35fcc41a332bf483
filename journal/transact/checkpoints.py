"""Checkpoints of AgentState: a cache that can be deleted at any time.

Rule: one is written when the entries since the last have grown as large as the state it held, so the
total of all of them stays linear in the thread's size. The last two of a reducer version are kept.
"""

from __future__ import annotations

from turnwright.journal.agent_state import AgentState
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.bases import keep_checkpoint
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.rows import find_place, is_due


def save_checkpoint(key: ThreadKey, state: AgentState) -> Script[bool]:
    """Store the state as a checkpoint if the policy wants one now; returns whether it did."""
    row = yield from lock_thread(key)
    if row is None or state.as_of_seq > row.seq:
        return False
    if not is_due(row.tail_bytes, row.checkpoint_bytes):
        return False
    if (yield from first("find_erasure", row.id, state.as_of_seq)) is not None:
        return False  # it may hold what was erased since
    yield from keep_checkpoint(row, state)
    return True


def delete_checkpoints(key: ThreadKey) -> Script[int]:
    """Delete all of a thread's checkpoints; returns how many."""
    place = yield from find_place(key)
    if place is None:
        return 0
    counted = yield from first("count_checkpoints", place.id)
    yield from first("delete_checkpoints", place.id)
    return 0 if counted is None else int(counted[0])
