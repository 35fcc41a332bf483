"""The state of a thread's agent at an entry, wherever it begins: in a checkpoint, in another thread, or further back.

Rule: the newest base counts. What came before a rewind is not folded, and of a fork's origin only what came up to its
entry is. A chain of forks is followed without recursion: first back to where a state is kept, then forward.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from turnwright.journal.agent_state import STATE_REDUCER_VERSION, AgentState, begun_from, empty_state
from turnwright.journal.codec import problem
from turnwright.journal.entries import Entry, EntryErased, Erased, ThreadForked, ThreadMadeWhole, ThreadRewound
from turnwright.journal.errors import JournalError, StoreCorrupt
from turnwright.journal.evolve_state import evolve_state, fold_state, is_base
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Row, Script, first
from turnwright.journal.transact.reading import read_page
from turnwright.journal.transact.rows import Place, ThreadRow, dump, find_place
from turnwright.journal.transact.walking import Walk, begins_at, walk_thread
from turnwright.journal.ways import way_to_rebuild

LOAD_ENTRIES_MAX = 500
LOAD_HOPS_MAX = 8
FIRST_SEQ = 1
GONE = 0  # no thread has this id


class Loaded(NamedTuple):
    """A state, and what it took to read it: so many entries were folded, from so many bases."""

    state: AgentState
    entries: int = 0
    hops: int = 0

    @property
    def is_far(self) -> bool:
        """Whether whoever begins there had better keep it."""
        return self.entries > LOAD_ENTRIES_MAX or self.hops > LOAD_HOPS_MAX


class _Hop(NamedTuple):
    """A part of the way: that thread's entries from `seq`, which begins elsewhere, to `until`."""

    key: ThreadKey
    place: Place
    seq: int
    until: int


def load_state(key: ThreadKey, base: AgentState | None = None, until_seq: int | None = None) -> Script[AgentState]:
    """The state at `until_seq` (or now), from `base` or a checkpoint and the entries after it.

    A `base` from before an erasure may hold what was erased, one from before a rewind is not where the thread goes on,
    and one that is ahead of the thread is of a journal from before its backup was restored: none is gone on from.
    """
    place = yield from find_place(key)
    if place is None:
        return empty_state(key)
    until = place.seq if until_seq is None else min(until_seq, place.seq)
    if base is not None and base.as_of_seq <= until:
        state = yield from go_on(key, place, base, until)
        if state is not None:
            return state
    return (yield from load_at(key, place, until)).state


def load_at(key: ThreadKey, place: Place, until: int) -> Script[Loaded]:
    """The state at an entry that is there.

    Raises:
        StoreCorrupt: it cannot be loaded; never an empty state instead.
    """
    hops: list[_Hop] = []
    while True:
        base = yield from first("find_base", place.id, until)
        kept = yield from load_checkpoint(key, place, until)
        if base is None or (kept is not None and kept.as_of_seq >= base[0]):
            break
        hops.append(_Hop(key, place, base[0], until))
        if base[6] is not None:
            kept, until = (yield from _held(key, place, base[6])), base[1]
            break
        key, place, until = origin_of(key, base)
    state = empty_state(key) if kept is None else kept
    entries = until - state.as_of_seq
    state = yield from _fold(key, place, state, (state.as_of_seq, until))
    for hop in reversed(hops):
        entries += hop.until - hop.seq + 1
        state = yield from _fold(hop.key, hop.place, begun_from(state, hop.key), (hop.seq - 1, hop.until))
    return Loaded(state, entries, len(hops))


def load_checkpoint(key: ThreadKey, place: Place, until_seq: int) -> Script[AgentState | None]:
    """The newest stored state not after `until_seq`.

    Raises:
        StoreCorrupt: the checkpoint cannot be read. It is never taken for an empty state.
    """
    found = yield from first("find_checkpoint", place.id, STATE_REDUCER_VERSION, until_seq)
    if found is None:
        return None
    try:
        return AgentState.model_validate_json(bytes(found[1]))
    except (ValueError, TypeError) as error:
        message = f"a checkpoint cannot be read: {problem(error)}"
        raise StoreCorrupt(message, key.canonical, found[0], rebuild=way_to_rebuild(key)) from error


def keep_checkpoint(row: ThreadRow, state: AgentState) -> Script[None]:
    """Store the state as a checkpoint of the locked thread."""
    body = dump(state)
    yield from first("insert_checkpoint", row.id, state.as_of_seq, STATE_REDUCER_VERSION, body)
    yield from first("trim_checkpoints", row.id, STATE_REDUCER_VERSION)
    yield from first("reset_tail", row.id, len(body))


def walk_based(key: ThreadKey, thread_id: int, kept_seqs: frozenset[int] = frozenset()) -> Script[Walk]:
    """Walk a thread that may begin, or go on, with a state from elsewhere; the origin's proof is its own."""
    walk = yield from walk_thread(key, thread_id, kept_seqs)
    if not walk.bases:
        return walk
    origins = yield from origins_of(walk)
    return (yield from walk_thread(key, thread_id, kept_seqs | rewound_to(walk), origins))


def rewound_to(walk: Walk) -> frozenset[int]:
    """The entries of the thread itself that it goes on from."""
    return frozenset(payload.to_seq for payload in walk.bases.values() if isinstance(payload, ThreadRewound))


def origins_of(walk: Walk) -> Script[dict[int, AgentState]]:
    """The states of other threads that entries begin with, by entry, as far as they can be read."""
    origins: dict[int, AgentState] = {}
    for seq, payload in walk.bases.items():
        if isinstance(payload, ThreadForked):
            held = None if walk.made_whole is None else walk.made_whole[1]
            state = held or (yield from _origin_state(walk.key, payload))
            origins |= {} if state is None else {seq: state}
    return origins


def read_entry(key: ThreadKey, seq: int) -> Script[Entry | None]:
    """The entry of that number; below zero it is one of the thread that this one was forked from.

    None: there is none, or its content was erased.
    """
    place = yield from find_place(key)
    while place is not None and seq < 0:
        base = yield from first("find_base", place.id, FIRST_SEQ)
        if base is None or base[2] is None:
            return None
        key, place, seq = ThreadKey.parse(base[2]), Place(base[3], base[1], base[5]), seq + base[1] + 1
    if place is None or not 0 < seq <= place.seq:
        return None
    [entry] = yield from read_page(key, place, seq - 1, seq)
    return None if isinstance(entry.payload, Erased) else entry


def place_of(origin: ThreadKey) -> Script[Place | None]:
    """Where a fork's origin is, also while its session is being imported and nobody else may find it."""
    row = yield from first("place_of_thread", origin.canonical)
    return None if row is None else Place(*row)


def replace_bases(walk: Walk, thread_id: int) -> Script[None]:
    """Keep beside a thread where its state begins elsewhere."""
    yield from first("delete_bases", thread_id)
    yield from put_bases(walk, thread_id, walk.bases)


def put_bases(walk: Walk, thread_id: int, seqs: Iterable[int]) -> Script[None]:
    """Keep beside a thread where its state begins with these entries; nothing is kept of them yet."""
    for seq in seqs:
        payload = walk.bases[seq]
        key = payload.origin_of(walk.key) if isinstance(payload, ThreadForked) else walk.key
        origin = yield from place_of(key)
        held = walk.made_whole[0] if walk.made_whole is not None and isinstance(payload, ThreadForked) else None
        at_seq = begins_at(payload)
        there = None if origin is None else (yield from hash_at(origin, at_seq))
        if held is not None and (there is None or there.hex() != getattr(payload, "origin_hash", "")):
            origin = None  # one of its name, in a journal that this one was moved to
        origin_id = GONE if origin is None else origin.id
        yield from first("insert_base", thread_id, seq, origin_id, at_seq, held)


def hash_at(place: Place, seq: int) -> Script[bytes | None]:
    """The chain's hash at an entry; None: there is no such entry."""
    row = yield from first("entry_hash", place.id, seq)
    return None if row is None else bytes(row[0])


def origin_of(key: ThreadKey, base: Row) -> tuple[ThreadKey, Place, int]:
    """Where the state is that an entry of a thread begins with, by its row of `find_base`.

    Raises:
        StoreCorrupt: the thread that it is in is gone.
    """
    seq, at_seq, canonical, thread_id, _, total_bytes, _ = base
    if canonical is None:
        raise StoreCorrupt("the thread it was forked from is gone", key.canonical, seq)
    return ThreadKey.parse(canonical), Place(thread_id, at_seq, total_bytes), at_seq


def note_rewind(row: ThreadRow, entries: Iterable[Entry], loaded: Loaded | None) -> Script[None]:
    """Keep where the new entry begins that goes on from an earlier one of its thread, whose state was `loaded`."""
    for entry in entries:
        if not isinstance(entry.payload, ThreadRewound) or loaded is None:
            continue
        yield from first("insert_base", row.id, entry.seq, row.id, entry.payload.to_seq, None)
        if loaded.is_far:
            yield from keep_checkpoint(row, evolve_state(loaded.state, entry))


def go_on(key: ThreadKey, place: Place, state: AgentState, until: int) -> Script[AgentState | None]:
    """The state with the entries after it; None: it cannot be gone on from."""
    while state.as_of_seq < until:
        page = yield from read_page(key, place, state.as_of_seq, until)
        if any(is_base(entry) or isinstance(entry.payload, EntryErased) for entry in page):
            return None
        state = fold_state(state, page)
    return state


def _fold(key: ThreadKey, place: Place, state: AgentState, between: tuple[int, int]) -> Script[AgentState]:
    """The state with the entries after one seq up to another."""
    after, until = between
    while after < until:
        page = yield from read_page(key, place, after, until)
        for entry in page:
            _check_begins(key, state, entry)
            state = evolve_state(state, entry)
        after = page[-1].seq
    return state


def _check_begins(key: ThreadKey, state: AgentState, entry: Entry) -> None:
    """Raises `StoreCorrupt` where a state begins elsewhere and what is kept beside the thread does not lead there."""
    if isinstance(entry.payload, ThreadForked | ThreadRewound) and begins_at(entry.payload) != state.as_of_seq:
        message = "where its state begins is not kept beside it as the entry says"
        raise StoreCorrupt(message, key.canonical, entry.seq, rebuild=way_to_rebuild(key))


def _origin_state(fork: ThreadKey, payload: ThreadForked) -> Script[AgentState | None]:
    """What a fork begins with; None: it cannot be read."""
    origin = payload.origin_of(fork)
    place = yield from place_of(origin)
    if place is None:
        return None
    try:
        return (yield from load_at(origin, place, payload.at_seq)).state
    except JournalError:
        return None


def _held(key: ThreadKey, place: Place, seq: int) -> Script[AgentState]:
    """What a fork that was made whole begins with."""
    [entry] = yield from read_page(key, place, seq - 1, seq)
    if not isinstance(entry.payload, ThreadMadeWhole):
        raise StoreCorrupt("it should hold what the thread begins with, and does not", key.canonical, seq)
    return entry.payload.state
