"""Lists of turns, sessions and threads, in pages.

Rule: the place to go on is a value of the last item, so a page never shifts when something new arrives. Newest
first; threads oldest first. What cannot be read is in the list as such, and the others with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.errors import UNREADABLE, InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, rows
from turnwright.journal.shown import PHASES, ShownStatus, phases_shown_as, shown_status
from turnwright.journal.transact.acts import held_by
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, session_totals, summed_up
from turnwright.journal.transact.rows import (
    find_session,
    find_session_id,
    read_row,
    session_control,
    thread_control,
)
from turnwright.journal.transact.turn_inputs import turn_inputs
from turnwright.journal.turn_status import Phase, TurnStatus
from turnwright.journal.ways import way_to_rebuild

T = TypeVar("T")
LOOKED_ROWS_MAX = 10_000
JUDGED_ROWS_MAX = 2_000
BATCH_ROWS = 500
DIGITS_MAX = 19
ANY_USER = ""
ANONYMOUS = "-"
_NEWEST = (2**62, "~")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list; `next` goes on behind them, None: that was all."""

    items: tuple[T, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """A turn in a list; `input`: how the text of its input begins, in one line.

    `unreadable`: why it or its thread cannot be read; the rest is what is known all the same.
    """

    key: ThreadKey
    status: TurnStatus
    shown: ShownStatus
    unreadable: str = ""
    input: str = ""


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Which turns of a tenant to list. `user`: `ANY_USER`, `ANONYMOUS`, or a name behind a plus."""

    tenant: str
    session: SessionKey | None = None
    user: str = ANY_USER
    agent: str = ""
    thread: str = ""
    phases: tuple[Phase, ...] = field(default=PHASES)
    shown: ShownStatus | None = None

    @property
    def wanted(self) -> tuple[Phase, ...]:
        """The phases that can be in the list."""
        possible = PHASES if self.shown is None else phases_shown_as(self.shown)
        return tuple(phase for phase in PHASES if phase in self.phases and phase in possible)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of the turns, sorted: the statement that reads it, whose it is, and what else narrows it."""

    statement: str
    owner: str | int
    scope: tuple[str, ...]


def list_turns(wanted: TurnFilter, after: str | None, limit: int) -> Script[Page[TurnSeen] | None]:
    """A page of turns, newest first; None when the filter's session does not exist.

    Rows are filtered where they were read, and what is shown depends on thread and session as well. So one call looks
    at a bounded number of them, and may give fewer than `limit` with more to come.
    """
    stretches = yield from _stretches(wanted)
    if stretches is None:
        return None
    page = yield from _judged(wanted, stretches, after, limit)
    begins = yield from turn_inputs((thread_id, seen.status.queued_seq) for thread_id, seen in page.items)
    items = (replace(seen, input=begins.get((thread_id, seen.status.queued_seq), "")) for thread_id, seen in page.items)
    return Page(tuple(items), page.next)


def _judged(
    wanted: TurnFilter, stretches: tuple[_Stretch, ...], after: str | None, limit: int
) -> Script[Page[tuple[int, TurnSeen]]]:
    """The page, each turn with its thread's id."""
    items: list[tuple[int, TurnSeen]] = []
    place, size, looked, judged = _NEWEST if after is None else place_of(after), limit, 0, 0
    while looked < LOOKED_ROWS_MAX and judged < JUDGED_ROWS_MAX:
        batch = yield from _newest(stretches, place, size)
        for row in batch:
            place = (row[1], row[0])
            if row[3] is None:
                continue
            judged += 1
            seen = yield from _turn_seen(row)
            if wanted.shown in (None, seen.shown):
                items.append((row[8], seen))
            if len(items) == limit:
                return Page(tuple(items), _cursor(place))
        if len(batch) < size:
            return Page(tuple(items))
        looked, size = looked + size * len(stretches), max(limit, BATCH_ROWS)
    return Page(tuple(items), _cursor(place))


def _stretches(wanted: TurnFilter) -> Script[tuple[_Stretch, ...] | None]:
    """Where the turns stand that may be wanted: an index for each phase, or one for all where it is enough."""
    if wanted.session is not None:
        session_id = yield from find_session_id(wanted.session)
        if session_id is None:
            return None
        which = (wanted.agent, wanted.thread)
        if wanted.wanted == PHASES:
            return (_Stretch("turns_of_session", session_id, which),)
        return tuple(_Stretch("turns_in_session", session_id, (*which, phase)) for phase in wanted.wanted)
    whose = (wanted.agent, wanted.user)
    if whose == ("", ANY_USER):
        if wanted.wanted == PHASES:
            return (_Stretch("turns_of_tenant", wanted.tenant, whose),)
        return tuple(_Stretch("turns_in_phase", wanted.tenant, (*whose, phase)) for phase in wanted.wanted)
    named = "turns_of_agent" if wanted.user == ANY_USER else "turns_of_owner"
    phases = f",{','.join(wanted.wanted)},"
    return (
        *(_Stretch(named, wanted.tenant, (*whose, phase)) for phase in wanted.wanted),
        _Stretch("turns_without_agent", wanted.tenant, (*whose, phases)),
    )


def _newest(stretches: tuple[_Stretch, ...], place: tuple[int, str], size: int) -> Script[list[Row]]:
    """The next rows of all of them together."""
    found: list[Row] = []
    for stretch in stretches:
        found += yield from rows(stretch.statement, stretch.owner, *place, size, *stretch.scope)
    return sorted(found, key=lambda row: (row[1], row[0]), reverse=True)[:size]


def list_sessions(tenant: str, user: str, after: str | None, limit: int) -> Script[Page[SessionSeen]]:
    """A page of sessions, newest first; `user` as in `TurnFilter`."""
    name = {ANY_USER: "sessions_of_tenant", ANONYMOUS: "sessions_of_nobody"}.get(user, "sessions_of_user")
    named = (user[1:],) if name == "sessions_of_user" else ()
    found = yield from rows(name, tenant, _id(after, 2**62), limit, *named)
    totals = yield from session_totals([row[0] for row in found])
    items: list[SessionSeen] = []
    for row in found:
        session = yield from _session_seen(row, totals[row[0]])
        items.append(session)
    return Page(tuple(items), str(found[-1][0]) if len(found) == limit else None)


def list_threads(key: SessionKey, after: str | None, limit: int) -> Script[Page[ThreadSeen] | None]:
    """A page of a session's threads, oldest first; None when there is no such session."""
    session = yield from find_session(key)
    if session is None or session.deleted:
        return None
    found = yield from rows("threads_of_session", session.id, _id(after, 0), limit)
    items: list[ThreadSeen] = []
    for row in found:
        thread = yield from _thread_seen(row, session.control)
        items.append(thread)
    return Page(tuple(items), str(found[-1][0]) if len(found) == limit else None)


def _session_seen(row: Row, totals: Row) -> Script[SessionSeen]:
    _, canonical, body, version = row
    key = SessionKey(*json.loads(canonical))
    try:
        control = yield from session_control(key, body, version)
        return (yield from summed_up(key, control, totals))
    except UNREADABLE as error:
        seen = yield from summed_up(key, SessionControl(), totals)
        return replace(seen, unreadable=str(error))


def _thread_seen(row: Row, session: SessionControl) -> Script[ThreadSeen]:
    thread_id, canonical, body, version, seq, last_at_us = row
    key = ThreadKey.parse(canonical)
    try:
        control = yield from thread_control(key, thread_id, body, version)
        held = yield from held_by(key, control.pause, session)
    except UNREADABLE as error:
        return ThreadSeen(key, ThreadControl(), session, seq, last_at_us, unreadable=str(error))
    return ThreadSeen(key, control, session, seq, last_at_us, held_by=held)


def _turn_seen(row: Row) -> Script[TurnSeen]:
    key, status = ThreadKey.parse(row[3]), TurnStatus(turn_id=row[0], request_id="", queued_at_us=row[1])
    try:
        status = read_row(TurnStatus, row[2], status.turn_id, way_to_rebuild(key))
        control = yield from thread_control(key, row[8], row[4], row[5])
        session = yield from session_control(key.session_key, row[6], row[7])
    except UNREADABLE as error:
        return TurnSeen(key, status, status.phase, str(error))
    return TurnSeen(key, status, shown_status(control, session, status))


def _cursor(place: tuple[int, str]) -> str:
    return f"{place[0]}.{place[1]}"


def place_of(cursor: str) -> tuple[int, str]:
    """A place in a list that is sorted by time and id.

    Raises:
        InvalidInput: it is none.
    """
    created_us, dot, turn_id = cursor.partition(".")
    if not dot:
        raise _no_place(cursor)
    return _id(created_us, 0), turn_id


def _id(cursor: str | None, default: int) -> int:
    if cursor is None:
        return default
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < DIGITS_MAX):
        raise _no_place(cursor)
    return int(cursor)


def _no_place(cursor: str) -> InvalidInput:
    return InvalidInput(f"{cursor!r} is no place in a list; give the `next` of the page before")
