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
from turnwright.journal.transact.ahead import Ahead, Outdated, confirmed
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import Loaded, go_on, hash_at, keep_checkpoint
from turnwright.journal.transact.commands import Done, Undo, admitted
from turnwright.journal.transact.locking import Locked, lock_in_session
from turnwright.journal.transact.requests import rejected, remember
from turnwright.journal.transact.rows import Place, ThreadRow, create_thread, find_place, find_session

FORKS_MAX = 1_000  # of forks and their forks together, since an erasure locks all of them and is told in each


def fork_command(key: ThreadKey, command: ForkThread, ahead: Ahead | None) -> Script[Done]:
    """Fork a thread, `ahead` of which what the fork begins with was read.

    Raises:
        InvalidInput: the command holds what no journal can keep, or names what cannot be an id.
        Undo: it is rejected.
        Outdated: what the fork begins with is to be read first.
        StoreUnavailable: somebody else made a thread of that name at the same time; try again.
    """
    command = storable(command)
    locked = yield from admitted(key, command, (yield from lock_in_session(key)))
    if isinstance(locked, Done):
        return locked
    target = target_of(key, command)
    yield from _check(locked, target, command)
    loaded, payload = yield from _begin(locked.row, command, ahead)
    made = yield from _make(target, locked, command)
    receipt = yield from _write(made, payload, command, locked)
    yield from remember(locked.row.id, command, receipt)
    if loaded.is_far:
        yield from _keep(made.row, loaded, payload)
    return Done(receipt)


def target_of(key: ThreadKey, command: ForkThread) -> ThreadKey:
    """The thread that the command makes."""
    name = fork_name(key, command.request_id) if command.thread is None else command.thread
    session = key.session if command.session is None else command.session
    return replace(key, thread=name, session=session).checked()


def _check(locked: Locked, target: ThreadKey, command: ForkThread) -> Script[None]:
    if (yield from find_place(target)) is not None:
        raise _undo(command, "thread_exists", f"there is a thread {target.thread!r} of {target.agent!r} already")
    [forks] = (yield from first("count_lineage", locked.row.id, FORKS_MAX)) or (0,)
    if forks >= FORKS_MAX:
        raise _undo(
            command,
            "too_many_forks",
            f"the thread that it all began with has {counted(forks, 'fork')}, those of forks included; delete sessions "
            "with such that nobody needs, or bring the conversation to a new thread (thread export, thread import)",
        )


def _begin(row: ThreadRow, command: ForkThread, ahead: Ahead | None) -> Script[tuple[Loaded, ThreadForked]]:
    """What the fork begins with, and the entry that says so."""
    seq = row.seq if command.at_seq is None else command.at_seq
    place = Place(row.id, row.seq, row.total_bytes)
    found = yield from hash_at(place, seq)
    if found is None or seq > row.seq:
        raise _undo(command, "unknown_entry", f"the thread has the entries 1 to {row.seq}, not {seq}")
    loaded = yield from confirmed(row, ahead)
    if loaded.state.as_of_seq != seq:  # written since it was read
        state = yield from go_on(row.key, place, loaded.state, seq)
        if state is None or state.as_of_seq != seq:
            raise Outdated
        loaded = loaded._replace(state=state)
    return loaded, fork(loaded.state, found, command)


def _make(target: ThreadKey, origin: Locked, command: ForkThread) -> Script[Locked]:
    session = yield from find_session(target.session_key)
    if session is None or session.deleted:
        raise _no_session(target, command)
    yield from create_thread(target, session.id, origin.now_us)
    made = yield from lock_in_session(target)
    if made is None or made.row.seq:
        raise StoreUnavailable(f"thread {target.canonical} came to be while it was being forked; try again")
    if made.session.deleted:
        raise _no_session(target, command)
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


def _no_session(target: ThreadKey, command: ForkThread) -> Undo:
    return _undo(command, UNKNOWN_SESSION.code, f"there is no session {target.session} for the fork; create it first")


def _undo(command: ForkThread, code: str, reason: str) -> Undo:
    return Undo(rejected(command, Rejection(code, reason)))
