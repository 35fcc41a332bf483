"""One walk over a thread's stored entries: what they prove, what they add up to, and what is wrong with them.

Rule: nothing stored is believed but the entries, and those only as far as their chain holds. `verify` compares
the result with everything that is kept beside them; `rebuild` writes it there.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Literal, NamedTuple

from turnwright.journal import entry_ids
from turnwright.journal.agent_state import AgentState, begun_from, empty_state
from turnwright.journal.codec import GENESIS, Link, body_digest, chain_hash, decode
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.entries import (
    Entry,
    EntryErased,
    Erased,
    Payload,
    ScheduleTicked,
    ThreadForked,
    ThreadMadeWhole,
    ThreadRewound,
)
from turnwright.journal.errors import KeyMissing, StoreCorrupt, UnknownEntryType
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.ids import ThreadKey
from turnwright.journal.interactions import Interaction, begin_interaction, settlement
from turnwright.journal.messages import media_of
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.sealing.values import Unopened
from turnwright.journal.search.texts import said_in
from turnwright.journal.search.words import has_words
from turnwright.journal.turn_status import TurnStatus, begin_status, evolve_status, is_status_entry

PAGE_ENTRIES_MAX = 100
PAGE_BYTES_MAX = 16 * 1024 * 1024
FINDINGS_MAX = 50
TICKS_MAX = 1_000
DIGEST_BYTES = 32

Check = Literal[
    "sequence", "chain", "body", "blob", "erasure", "head", "control", "turns", "checkpoint", "request", "deadline",
    "session", "position", "stray", "question", "spent", "search", "base",
    "schedule",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written. `seq` None: it concerns the thread or session as a whole."""

    where: str
    seq: int | None
    check: Check
    problem: str


class _Raw(NamedTuple):
    """A row of `raw_entries`."""

    seq: int
    entry_id: str
    type: str
    version: int
    position: int
    at_us: int
    turn_id: str | None
    run: str | None
    step: int | None
    epoch: int | None
    required: int
    prev_hash: bytes
    hash: bytes
    salt: bytes | None
    body: bytes | None
    blob: str | None
    blob_body: bytes | None

    @property
    def stored(self) -> bytes | None:
        """The bytes of the body, wherever they stand."""
        return self.blob_body if self.body is None else self.body


@dataclass
class Walk:
    """How far a walk has come. `whole`: every entry could be folded, so what it adds up to is proven.

    `bases`: the entries whose state begins elsewhere. `based`: what they begin with was known, so `state` is right.
    `made_whole`: the entry that holds what its first entry begins with, and that state. `sealed`: the entries that want
    a key to be opened; their chain is proven all the same.
    """

    key: ThreadKey
    kept_seqs: frozenset[int] = frozenset()
    origins: Mapping[int, AgentState] = field(default_factory=dict)
    seq: int = 0
    hash: bytes = GENESIS
    at_us: int = 0
    position: int = 0
    body_bytes: int = 0
    whole: bool = True
    control: ThreadControl = field(default_factory=ThreadControl)
    session: SessionControl = field(default_factory=SessionControl)
    state: AgentState = field(default_factory=AgentState)
    states: dict[int, AgentState] = field(default_factory=dict)
    bases: dict[int, ThreadForked | ThreadRewound] = field(default_factory=dict)
    based: bool = True
    made_whole: tuple[int, AgentState] | None = None
    turns: dict[str, TurnStatus] = field(default_factory=dict)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    ticks: deque[Entry] = field(default_factory=lambda: deque(maxlen=TICKS_MAX))
    requests: set[str] = field(default_factory=set)
    media: set[str] = field(default_factory=set)
    said: set[int] = field(default_factory=set)
    erased: set[int] = field(default_factory=set)
    erasures: set[int] = field(default_factory=set)
    sealed: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def found(self, seq: int | None, check: Check, problem: str) -> None:
        """Note something wrong; beyond a bound nobody reads on."""
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(Finding(self.key.canonical, seq, check, problem))

    @property
    def front(self) -> TurnStatus | None:
        """The first turn of the queue."""
        queued = (status for status in self.turns.values() if status.phase == "queued")
        return min(queued, key=lambda status: status.queue_order, default=None)


class Ahead(NamedTuple):
    """A walk to where the thread stood while others wrote to it; an erasure behind the entry `since` may concern it."""

    thread_id: int
    walk: Walk
    since: int


def walk_thread(
    key: ThreadKey,
    thread_id: int,
    kept_seqs: frozenset[int] = frozenset(),
    origins: Mapping[int, AgentState] | None = None,
) -> Script[Walk]:
    """Read and fold all of a thread's entries; keeps the states at the given seqs.

    `origins`: the states that entries of this thread begin with and that are another thread's, by entry. A rewind finds
    its own among those that are kept.
    """
    walk = begin_walk(key, kept_seqs, origins)
    while page := (yield from next_page(thread_id, walk.seq)):
        walk_on(walk, page)
    return end_walk(walk)


def begin_walk(
    key: ThreadKey, kept_seqs: frozenset[int] = frozenset(), origins: Mapping[int, AgentState] | None = None
) -> Walk:
    """A walk that stands before the first entry; see `walk_thread`."""
    return Walk(key, kept_seqs, origins or {}, state=empty_state(key))


def next_page(thread_id: int, after: int) -> Script[list[Row]]:
    """The stored entries that follow, some of them; none: there are no more."""
    end = yield from first("thread_page_end", thread_id, after, PAGE_ENTRIES_MAX, PAGE_BYTES_MAX)
    if end is None or end[0] is None:
        return []
    return (yield from rows("raw_entries", thread_id, after, end[0]))


def walk_on(walk: Walk, page: Iterable[Row]) -> None:
    """Fold a page of stored entries."""
    for row in page:
        _step(walk, _Raw(*row))


def end_walk(walk: Walk) -> Walk:
    """Judge what only all entries together say."""
    if walk.sealed:  # what they say is not known
        return walk
    for seq in sorted(walk.erased - walk.erasures):
        walk.found(seq, "erasure", "its content is gone and no entry.erased says so")
    for seq in sorted(walk.erasures - walk.erased):
        walk.found(seq, "erasure", "an entry.erased says that its content is gone, and it is there")
    return walk


def go_on(ahead: Ahead) -> Script[Walk]:
    """What was walked, on a copy, to where the thread stands now."""
    done = ahead.walk
    walk = replace(done, **{one.name: copy(getattr(done, one.name)) for one in fields(done)})
    while page := (yield from next_page(ahead.thread_id, walk.seq)):
        walk_on(walk, page)
    return end_walk(walk)


def _step(walk: Walk, row: _Raw) -> None:
    if row.seq != walk.seq + 1:
        walk.found(walk.seq + 1, "sequence", f"entries {walk.seq + 1} to {row.seq - 1} are missing")
        walk.whole = False
    elif bytes(row.prev_hash) != walk.hash:
        walk.found(row.seq, "chain", "it does not follow the entry before it")
    if row.at_us < walk.at_us:
        walk.found(row.seq, "sequence", "its time is before that of the entry before it")
    if row.position <= walk.position:
        walk.found(row.seq, "position", "its position is not behind that of the entry before it")
    _check_content(walk, row)
    walk.seq, walk.hash = row.seq, bytes(row.hash)
    walk.at_us, walk.position = max(walk.at_us, row.at_us), max(walk.position, row.position)
    if row.entry_id.startswith(entry_ids.COMMAND):
        walk.requests.add(entry_ids.request_of(row.entry_id))
    payload = _payload(walk, row)
    if payload is None or isinstance(payload, Erased):
        walk.whole = False
        return
    _fold(walk, row, payload)


def _check_content(walk: Walk, row: _Raw) -> None:
    """The chain's link: is this what was hashed?"""
    if row.salt is None:
        walk.found(row.seq, "body", "its payload row is missing")
        return
    if row.blob is not None and row.blob_body is None:
        walk.found(row.seq, "blob", f"blob {row.blob} is missing")
        return
    stored = row.stored
    if isinstance(stored, Unopened):
        _check_sealed(walk, row, stored)
        return
    if row.blob is not None and stored is not None and hashlib.sha256(stored).hexdigest() != row.blob:
        walk.found(row.seq, "blob", f"blob {row.blob} holds other bytes")
    if stored is None:
        walk.erased.add(row.seq)
        content = bytes(row.salt)
    else:
        walk.body_bytes += len(stored)
        content = body_digest(bytes(row.salt), stored)
    _check_link(walk, row, content, whole=stored is None)


def _check_sealed(walk: Walk, row: _Raw, stored: Unopened) -> None:
    """Of what cannot be opened the digest stands in the salt's place."""
    if isinstance(stored.error, KeyMissing):
        walk.sealed.add(row.seq)
    else:
        walk.found(row.seq, "body" if row.body is stored else "blob", str(stored.error))
    _check_link(walk, row, bytes(row.salt or b""), whole=True)


def _check_link(walk: Walk, row: _Raw, content: bytes, *, whole: bool) -> None:
    """`whole`: the digest of the content is all there is of it, so it must be one."""
    link = Link(
        row.seq, row.type, row.version, row.entry_id, row.turn_id, row.run, row.step, row.epoch, bool(row.required),
        content,
    )  # fmt: skip
    expected = chain_hash(bytes(row.prev_hash), link)
    if expected != bytes(row.hash) or (whole and len(content) != DIGEST_BYTES):
        walk.found(row.seq, "chain", f"{row.type} is not what was hashed")


def _payload(walk: Walk, row: _Raw) -> Payload | None:
    if row.salt is None or (row.blob is not None and row.blob_body is None) or isinstance(row.stored, Unopened):
        return None
    try:
        return decode(
            row.type, row.version, row.stored, required=bool(row.required), thread=walk.key.canonical, seq=row.seq
        )
    except StoreCorrupt as error:
        walk.found(row.seq, "body", str(error).partition(" (thread")[0])
    except UnknownEntryType as error:
        walk.found(row.seq, "body", str(error))
    return None


def _fold(walk: Walk, row: _Raw, payload: Payload) -> None:
    entry = Entry(
        row.entry_id, payload, row.turn_id, row.run, row.step, row.epoch,
        seq=row.seq, position=row.position, at_us=row.at_us,
    )  # fmt: skip
    try:
        walk.control = evolve_control(walk.control, entry)
        walk.session = evolve_session(walk.session, entry) if walk.key.is_session_log else walk.session
        _fold_state(walk, entry)
        _fold_turn(walk, entry)
        _fold_question(walk, entry)
    except Exception as error:  # noqa: BLE001 - whatever stored bytes bring about is a finding, not an end
        walk.found(row.seq, "body", f"{row.type} cannot be folded: {type(error).__name__}: {error}")
        walk.whole = False
        return
    if entry.seq in walk.kept_seqs:
        walk.states[entry.seq] = walk.state
    if isinstance(payload, ThreadMadeWhole):
        walk.made_whole = (entry.seq, payload.state)
    if isinstance(payload, EntryErased):
        walk.erasures.update({payload.erased_seq} if payload.erased_seq > 0 else ())
    if isinstance(payload, ScheduleTicked):
        walk.ticks.append(entry)
    walk.media.update(media_of(payload))
    said = said_in(payload)
    if said is not None and has_words(said.text):
        walk.said.add(entry.seq)


def _fold_state(walk: Walk, entry: Entry) -> None:
    match entry.payload:
        case ThreadForked():
            base = walk.origins.get(entry.seq)
            base = None if base is None else begun_from(base, walk.key)
        case ThreadRewound(to_seq=to_seq):
            base = walk.states.get(to_seq)
        case _:
            walk.state = evolve_state(walk.state, entry)
            return
    walk.bases[entry.seq] = entry.payload
    if base is None:
        walk.based = False
        base = walk.state.model_copy(update={"as_of_seq": begins_at(entry.payload)})
    walk.state = evolve_state(base, entry)


def begins_at(payload: ThreadForked | ThreadRewound) -> int:
    """The entry whose state it begins with."""
    return payload.at_seq if isinstance(payload, ThreadForked) else payload.to_seq


def _fold_turn(walk: Walk, entry: Entry) -> None:
    if entry.turn_id is None or not is_status_entry(entry):
        return
    status = begin_status(entry) or walk.turns.get(entry.turn_id)
    if status is not None:
        walk.turns[entry.turn_id] = evolve_status(status, entry)


def _fold_question(walk: Walk, entry: Entry) -> None:
    question, end = begin_interaction(entry), settlement(entry)
    if question is not None:
        walk.interactions[question.interaction_id] = question
    elif end is not None and end.interaction_id in walk.interactions:
        walk.interactions[end.interaction_id] = end.of(walk.interactions[end.interaction_id])
