"""Checkpoints of AgentState: a cache that can be deleted at any time.

Rule: one is written when the entries since the last have grown as large as the state it held, so the
total of all of them stays linear in the thread's size. The last two of a reducer version are kept.
"""

from __future__ import annotations

from turnwright.journal.agent_state import STATE_REDUCER_VERSION, AgentState, empty_state
from turnwright.journal.entries import Entry, EntryErased
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.reading import PAGE_ENTRIES_MAX, read_thread
from turnwright.journal.transact.rows import dump, find_thread, is_due, lock_thread


def load_checkpoint(key: ThreadKey, until_seq: int | None = None) -> Script[AgentState]:
    """The newest stored state not after `until_seq`; the empty state when there is none.

    Raises:
        StoreCorrupt: the checkpoint cannot be read. It is never taken for an empty state.
    """
    row = yield from find_thread(key)
    if row is None:
        return empty_state(key)
    until = 2**62 if until_seq is None else until_seq
    found = yield from first("find_checkpoint", row.id, STATE_REDUCER_VERSION, until)
    if found is None:
        return empty_state(key)
    try:
        return AgentState.model_validate_json(bytes(found[1]))
    except ValueError as error:
        raise StoreCorrupt(
            "a checkpoint cannot be read; delete it, it is only a cache", key.canonical, found[0]
        ) from error


def load_state(key: ThreadKey, base: AgentState | None = None, until_seq: int | None = None) -> Script[AgentState]:
    """The state at `until_seq` (or now), from `base` or a checkpoint and the entries after it.

    A `base` from before an erasure may hold what was erased, so it is not gone on from.
    """
    given = base is not None and (until_seq is None or base.as_of_seq <= until_seq)
    state = base if given and base is not None else (yield from load_checkpoint(key, until_seq))
    while True:
        page: list[Entry] = yield from read_thread(key, state.as_of_seq, PAGE_ENTRIES_MAX, until_seq)
        if given and any(isinstance(entry.payload, EntryErased) for entry in page):
            return (yield from load_state(key, None, until_seq))
        state = fold_state(state, page)
        if len(page) < PAGE_ENTRIES_MAX:
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
    row = yield from find_thread(key)
    if row is None:
        return 0
    counted = yield from first("count_checkpoints", row.id)
    yield from first("delete_checkpoints", row.id)
    return 0 if counted is None else int(counted[0])
