"""Checkpoints of AgentState: a cache that can be deleted at any time.

Rule: one is written when the entries since the last have grown as large as the state it held, so the
total of all of them stays linear in the thread's size. The last two of a reducer version are kept.
"""

from __future__ import annotations

from turnwright.journal.agent_state import STATE_REDUCER_VERSION, AgentState, empty_state
from turnwright.journal.codec import problem
from turnwright.journal.entries import EntryErased
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.reading import read_page
from turnwright.journal.transact.rows import Place, dump, find_place, is_due
from turnwright.journal.ways import way_to_rebuild


def load_checkpoint(key: ThreadKey, place: Place, until_seq: int) -> Script[AgentState]:
    """The newest stored state not after `until_seq`; the empty state when there is none.

    Raises:
        StoreCorrupt: the checkpoint cannot be read. It is never taken for an empty state.
    """
    found = yield from first("find_checkpoint", place.id, STATE_REDUCER_VERSION, until_seq)
    if found is None:
        return empty_state(key)
    try:
        return AgentState.model_validate_json(bytes(found[1]))
    except (ValueError, TypeError) as error:
        message = f"a checkpoint cannot be read: {problem(error)}"
        raise StoreCorrupt(message, key.canonical, found[0], rebuild=way_to_rebuild(key)) from error


def load_state(key: ThreadKey, base: AgentState | None = None, until_seq: int | None = None) -> Script[AgentState]:
    """The state at `until_seq` (or now), from `base` or a checkpoint and the entries after it.

    A `base` from before an erasure may hold what was erased, and one that is ahead of the thread is of a journal
    from before its backup was restored: neither is gone on from.
    """
    place = yield from find_place(key)
    if place is None:
        return empty_state(key)
    until = place.seq if until_seq is None else min(until_seq, place.seq)
    given = base is not None and base.as_of_seq <= until
    state = base if given and base is not None else (yield from load_checkpoint(key, place, until))
    while state.as_of_seq < until:
        page = yield from read_page(key, place, state.as_of_seq, until)
        if given and any(isinstance(entry.payload, EntryErased) for entry in page):
            return (yield from load_state(key, None, until_seq))
        state = fold_state(state, page)
    return state


def save_checkpoint(key: ThreadKey, state: AgentState) -> Script[bool]:
    """Store the state as a checkpoint if the policy wants one now; returns whether it did."""
    row = yield from lock_thread(key)
    if row is None or state.as_of_seq > row.seq:
        return False
    if not is_due(row.tail_bytes, row.checkpoint_bytes):
        return False
    if (yield from first("find_erasure", row.id, state.as_of_seq)) is not None:
        return False  # it may hold what was erased since
    body = dump(state)
    yield from first("insert_checkpoint", row.id, state.as_of_seq, STATE_REDUCER_VERSION, body)
    yield from first("trim_checkpoints", row.id, STATE_REDUCER_VERSION)
    yield from first("reset_tail", row.id, len(body))
    return True


def delete_checkpoints(key: ThreadKey) -> Script[int]:
    """Delete all of a thread's checkpoints; returns how many."""
    place = yield from find_place(key)
    if place is None:
        return 0
    counted = yield from first("count_checkpoints", place.id)
    yield from first("delete_checkpoints", place.id)
    return 0 if counted is None else int(counted[0])
