"""A fork: another thread, whose log begins with where its state is.

Rule: the origin is locked, so that its last entry is one moment's, and nothing is written to its log. The request is
remembered in both: the origin knows it again, and the fork has an entry under it.
"""

from __future__ import annotations

from dataclasses import replace

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.agent_state import begun_from
from turnwright.journal.commands import ForkThread, Receipt, Rejection
from turnwright.journal.counted import counted
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.decide.forking import fork
from turnwright.journal.edge import storable
from turnwright.journal.entries import Draft, ThreadForked
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.ids import ThreadKey, fork_name
from turnwright.journal.script import Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import Loaded, hash_at, keep_checkpoint, load_at
from turnwright.journal.transact.commands import Done, Undo
from turnwright.journal.transact.locking import Locked, lock_in_session
from turnwright.journal.transact.requests import rejected, remember, remembered
from turnwright.journal.transact.rows import Place, ThreadRow, create_thread, find_place, find_session

FORKS_MAX = 1_000


def fork_command(key: ThreadKey, command: ForkThread) -> Script[Done]:
    """Fork a thread.

    Raises:
        Undo: the command is rejected.
    """
    command = storable(command)
    locked = yield from lock_in_session(key)
    if locked is None:
        raise _undo(command, "unknown_thread", f"there is no thread {key.canonical}")
    if locked.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    known = yield from remembered(locked.row.id, command)
    if known is not None:
        return Done(known)
    target = target_of(key, command)
    yield from _check(locked, target, command)
    loaded, payload = yield from _begin(locked.row, command)
    made = yield from _make(target, locked, command)
    receipt = yield from _write(made, payload, command, locked)
    yield from remember(locked.row.id, command, receipt)
    if loaded.is_far:
        yield from _keep(made.row, loaded, payload)
    return Done(receipt)


def target_of(key: ThreadKey, command: ForkThread) -> ThreadKey:
    """The thread that the command makes."""
    name = command.thread or fork_name(key, command.request_id)
    return replace(key, thread=name, session=command.session or key.session).checked()


def _check(locked: Locked, target: ThreadKey, command: ForkThread) -> Script[None]:
    if (yield from find_place(target)) is not None:
        raise _undo(command, "thread_exists", f"there is a thread {target.thread!r} of {target.agent!r} already")
    [forks] = (yield from first("count_forks", locked.row.id)) or (0,)
    if forks >= FORKS_MAX:
        raise _undo(command, "too_many_forks", f"the thread has {counted(forks, 'fork')}; fork one of them instead")


def _begin(row: ThreadRow, command: ForkThread) -> Script[tuple[Loaded, ThreadForked]]:
    """What the fork begins with, and the entry that says so."""
    seq = row.seq if command.at_seq is None else command.at_seq
    place = Place(row.id, row.seq, row.total_bytes)
    found = yield from hash_at(place, seq)
    if found is None or seq > row.seq:
        raise _undo(command, "unknown_entry", f"the thread has the entries 1 to {row.seq}, not {seq}")
    loaded = yield from load_at(row.key, place, seq)
    return loaded, fork(loaded.state, found, command)


def _make(target: ThreadKey, origin: Locked, command: ForkThread) -> Script[Locked]:
    session = yield from find_session(target.session_key)
    if session is None or session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    yield from create_thread(target, session.id, origin.now_us)
    made = yield from lock_in_session(target)
    if made is None or made.row.seq:
        raise StoreUnavailable(f"thread {target.canonical} came to be while it was being forked; try again")
    if made.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    if made.session.control.closed:
        raise _undo(command, "session_closed", "the session is closed")
    return made


def _write(made: Locked, payload: ThreadForked, command: ForkThread, origin: Locked) -> Script[Receipt]:
    drafts = [Draft(entry_ids.command(command.request_id, 0), payload)]
    control = fold_drafts(made.row.control, drafts, made.now_us)
    [entry] = yield from append_drafts(made.row, drafts, control, made.now_us, runnable=False)
    yield from first("insert_base", made.row.id, entry.seq, origin.row.id, payload.at_seq, None)
    receipt = Receipt(command.request_id, "accepted", seq=entry.seq, thread=made.row.key.thread)
    yield from remember(made.row.id, command, receipt)
    return receipt


def _keep(row: ThreadRow, loaded: Loaded, payload: ThreadForked) -> Script[None]:
    """Keep what the fork begins with: reading it took long, and each worker that comes to it would read it again."""
    entry = Draft("", payload).at(row.seq + 1, row.at_us)
    yield from keep_checkpoint(row, evolve_state(begun_from(loaded.state, row.key), entry))


def _undo(command: ForkThread, code: str, reason: str) -> Undo:
    return Undo(rejected(command, Rejection(code, reason)))
