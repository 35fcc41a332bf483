"""Reads for people: a turn, a thread or a session with its surroundings, and the entries of one turn.

Rule: each is one snapshot, and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from turnwright.journal.acts import Act, Level
from turnwright.journal.budgets import NOTHING
from turnwright.journal.control import OpenChild, SessionControl, ThreadControl
from turnwright.journal.entries import Entry
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.transact.acts import cancelled_by, held_by, session_held_by, tools_away
from turnwright.journal.transact.askers import asking_turns
from turnwright.journal.transact.reading import PAGE_BYTES_MAX, SMALL_PAGE_ENTRIES, entry_of
from turnwright.journal.transact.rows import ThreadRow, clock, find_place, find_session, find_session_id, find_thread
from turnwright.journal.transact.spending import read_others
from turnwright.journal.transact.turns import find_turn, front_turn
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.why import Scene

CHILDREN_SEEN_MAX = 20
FAMILY_SEEN_MAX = 50


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Entries of one turn. `through_seq`: up to here none is missing; `last`: nothing more was there, and it ended."""

    entries: tuple[Entry, ...]
    through_seq: int
    last: bool


@dataclass(frozen=True, slots=True)
class Begins:
    """Where a thread's state begins: its entry `seq` begins with that of the entry `at_seq` of a thread."""

    seq: int
    thread: ThreadKey
    at_seq: int


@dataclass(frozen=True, slots=True)
class ThreadSeen:
    """A thread with its session's control, its head, and the first of its queue; `held_by`: who paused which.

    `begins`: where it was forked or rewound to last; `forks`: how many were forked from it. A list of threads does not
    say these. `unreadable`: why its control, which is empty then, cannot be read.
    """

    key: ThreadKey
    control: ThreadControl
    session: SessionControl
    seq: int
    last_at_us: int
    front: TurnStatus | None = None
    held_by: Mapping[Level, Act] = field(default_factory=dict)
    unreadable: str = ""
    begins: Begins | None = None
    forks: int = 0


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """A session and what is in it; `held_by`: who paused it; `unreadable`: as of a `ThreadSeen`."""

    key: SessionKey
    control: SessionControl
    created_us: int
    updated_us: int
    threads: int
    active: int
    queued: int
    last_at_us: int
    last_position: int
    held_by: Mapping[Level, Act] = field(default_factory=dict)
    unreadable: str = ""


@dataclass(slots=True)
class _Member:
    """A turn of a family, and those of its children that are looked at."""

    scene: Scene
    below: dict[str, _Member] = field(default_factory=dict)

    @property
    def waits_for(self) -> tuple[OpenChild, ...]:
        """The children that have not ended."""
        active = self.scene.control.turn(self.scene.status.turn_id)
        return () if active is None else active.children

    @property
    def in_order(self) -> list[_Member]:
        """Those that are looked at, as they were opened."""
        return [self.below[child.turn_id] for child in self.waits_for if child.turn_id in self.below]


def see_turn(key: ThreadKey, turn_id: str, *, children: bool = True) -> Script[Scene | None]:
    """A turn and its surroundings, with its `children` or without; None when there is no such turn on the thread."""
    scene = yield from _see_turn(key, turn_id)
    return scene if scene is None or not children else (yield from _with_children(scene))


def _with_children(top: Scene) -> Script[Scene]:
    """With the turns it waits for, and those that these wait for: the nearest first, and so many in all.

    Where they are more, those that ask come before others: whatever is asked is seen, at the latest when what was seen
    before it is answered.
    """
    scene = yield from _looked_at([_Member(top)])
    if not any(one.children_unseen for one in _all_of(scene)):
        return scene
    session_id = yield from find_session_id(top.key.session_key)
    asking = frozenset[str]() if session_id is None else (yield from asking_turns(session_id))
    family = [_Member(top)]
    branch = list(family)
    while branch and len(family) <= FAMILY_SEEN_MAX:
        # Down to who asks before the next branch: else there may be room for those only that lead to them.
        below = yield from _look_below(branch[-1], asking, 1)
        family += below
        branch = [*branch, *below] if below else branch[:-1]
    return (yield from _looked_at(family))


def _looked_at(family: list[_Member]) -> Script[Scene]:
    """The first of a family with all that there is room for."""
    for member in family:  # it grows on the way
        family += yield from _look_below(member, None, FAMILY_SEEN_MAX + 1 - len(family))
    for member in reversed(family):
        below = tuple(child.scene for child in member.in_order)
        member.scene = replace(member.scene, children=below, children_unseen=len(member.waits_for) - len(below))
    return family[0].scene


def _look_below(member: _Member, wanted: Collection[str] | None, room: int) -> Script[list[_Member]]:
    """Look at children that were not looked at, at those `wanted` or at any."""
    new = [
        child
        for child in member.waits_for
        if child.turn_id not in member.below and (wanted is None or child.turn_id in wanted)
    ][: max(0, min(room, CHILDREN_SEEN_MAX - len(member.below)))]
    for child in new:
        key = child.beside(member.scene.key)
        seen = yield from _see_turn(key, child.turn_id)
        member.below[child.turn_id] = _Member(seen or _not_yet(member.scene, key, child.turn_id))
    return [member.below[child.turn_id] for child in new]


def _all_of(scene: Scene) -> Iterator[Scene]:
    yield scene
    for child in scene.children:
        yield from _all_of(child)


def _not_yet(parent: Scene, key: ThreadKey, turn_id: str) -> Scene:
    """A child that is about to be queued."""
    status = TurnStatus(turn_id=turn_id, request_id="", queued_at_us=parent.last_at_us)
    return Scene(key, status, ThreadControl(), parent.session, now_us=parent.now_us, enlisted=True)


def _see_turn(key: ThreadKey, turn_id: str) -> Script[Scene | None]:
    row = yield from find_thread(key)
    session = yield from find_session(key.session_key)
    status = None if row is None else (yield from find_turn(turn_id, row.id))
    if row is None or session is None or session.deleted or status is None:
        return None
    control, ahead, front = row.control, 0, None
    if control.queued:
        front = yield from front_turn(row.id)
    if status.phase == "queued":
        counted = yield from first("count_ahead", row.id, status.queue_order)
        ahead = (0 if counted is None else int(counted[0])) + (control.active is not None)
    now_us = yield from clock()
    held = yield from held_by(key, control.pause, session.control, status)
    act = yield from cancelled_by(key, status)
    serving = yield from rows("serving_rows")
    wakes = yield from _useless_wakes(row)
    others = yield from read_others(row, session.control)
    active = control.turn(turn_id)
    away = yield from tools_away(key, status, active)
    return Scene(
        key, status, control, session.control, front, ahead, now_us, row.at_us, held, act,
        serving=frozenset(presence for presence, _ in serving),
        reducer=max(row.reducer_version, session.reducer_version),
        wakes=wakes,
        elsewhere=None if others is None else others.used,
        reserved=NOTHING if others is None else others.reserved,
        children_unseen=0 if active is None else len(active.children),
        tools_away=away,
    )  # fmt: skip


def _useless_wakes(thread: ThreadRow) -> Script[int]:
    """How often the sweeper has woken it since its last entry."""
    hint = yield from first("find_hint", thread.id)
    return int(hint[1]) if hint is not None and hint[0] == thread.seq else 0


def see_thread(key: ThreadKey) -> Script[ThreadSeen | None]:
    """A thread as it is now."""
    row = yield from find_thread(key)
    session = yield from find_session(key.session_key)
    if row is None or session is None or session.deleted:
        return None
    front = (yield from front_turn(row.id)) if row.control.queued else None
    held = yield from held_by(key, row.control.pause, session.control)
    begins = yield from _begins(row)
    [forks] = (yield from first("count_forks", row.id)) or (0,)
    return ThreadSeen(key, row.control, session.control, row.seq, row.at_us, front, held, begins=begins, forks=forks)


def _begins(row: ThreadRow) -> Script[Begins | None]:
    found = yield from first("find_base", row.id, row.seq)
    return None if found is None or found[2] is None else Begins(found[0], ThreadKey.parse(found[2]), found[1])


def see_session(key: SessionKey) -> Script[SessionSeen | None]:
    """A session as it is now."""
    session = yield from find_session(key)
    if session is None or session.deleted:
        return None
    totals = yield from session_totals([session.id])
    return (yield from summed_up(key, session.control, totals[session.id]))


def read_turn_page(key: ThreadKey, turn_id: str, after_seq: int, limit: int) -> Script[TurnPage | None]:
    """The entries of a turn after a place in its thread; None when there is no such turn."""
    place = yield from find_place(key)
    status = None if place is None else (yield from find_turn(turn_id, place.id))
    if place is None or status is None:
        return None
    if place.total_bytes > PAGE_BYTES_MAX:
        limit = min(limit, SMALL_PAGE_ENTRIES)
    found = yield from rows("turn_entries", place.id, turn_id, max(after_seq, status.queued_seq - 1), limit)
    entries = tuple(entry_of(item, key.canonical) for item in found)
    if len(entries) == limit:
        return TurnPage(entries, entries[-1].seq, last=False)
    return TurnPage(entries, max(place.seq, after_seq), last=status.finished)


def find_turn_entry(key: ThreadKey, turn_id: str, entry_id: str) -> Script[Entry | None]:
    """The entry of a turn with that id."""
    place = yield from find_place(key)
    status = None if place is None else (yield from find_turn(turn_id, place.id))
    if place is None or status is None:
        return None
    found = yield from first("turn_entry", place.id, turn_id, entry_id, status.queued_seq - 1)
    return None if found is None else entry_of(found, key.canonical)


def find_turns_named(tenant: str, user: str, beginning: str, limit: int) -> Script[tuple[tuple[str, ThreadKey], ...]]:
    """Turns of a tenant whose id begins so, with their threads; `user` as in `TurnFilter`.

    Ids are lower-case hexadecimal behind `t-`.
    """
    found = yield from rows("turns_named", tenant, beginning, f"{beginning}g", limit, user)
    return tuple((row[0], ThreadKey.parse(row[1])) for row in found)


def session_totals(session_ids: Sequence[int]) -> Script[dict[int, Row]]:
    """The sums over the threads of each session, by its number, for `summed_up`."""
    found = yield from rows("session_totals", json.dumps(list(session_ids)))
    return {row[0]: row for row in found}


def summed_up(key: SessionKey, session: SessionControl, totals: Row) -> Script[SessionSeen]:
    """A session with the sums over its threads."""
    _, created_us, updated_us, threads, active, queued, last_at_us, position = totals
    held = yield from session_held_by(key, session)
    counts = (threads, active, int(queued), last_at_us, position)
    return SessionSeen(key, session, created_us, updated_us, *counts, held)
