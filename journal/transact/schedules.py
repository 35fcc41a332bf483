"""The `schedules` and `ticks` tables: what a session's log and its threads say of schedules, and what Temporal knows.

Rule: an entry and its rows are one transaction. Whoever tells Temporal writes down what it was told only if the
schedule is still so; else it is told again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from turnwright.journal import entry_ids
from turnwright.journal.canonical import encode
from turnwright.journal.commands import Receipt, Rejection, TakeTick, TriggerSchedule
from turnwright.journal.control import SessionControl
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.decide.schedules import IF_BUSY, UNKNOWN_SCHEDULE
from turnwright.journal.entries import (
    Entry,
    ScheduleCreated,
    ScheduleDeleted,
    SchedulePaused,
    ScheduleResumed,
    ScheduleTicked,
    SessionClosed,
)
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.schedules import Schedule, ScheduleState, Tick
from turnwright.journal.script import Row, Script, Touch, batch, first, rows
from turnwright.journal.transact.reading import read_thread
from turnwright.journal.transact.requests import receipt_again
from turnwright.journal.transact.rows import ThreadRow, clock, find_session

TOPIC = "schedules"
TOLD = "schedules told"
TICKS_KEPT_MAX = 50
TICKS_LISTED = 5
ERROR_CHARACTERS_MAX = 300
TRIGGER_ENTRIES_MAX = 100
_CHANGES = (ScheduleCreated, SchedulePaused, ScheduleResumed, ScheduleDeleted, SessionClosed)


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule that Temporal is to be told of, or asked about; `applied_to`: whom it was told before."""

    session_id: int
    session: SessionKey
    generation: int
    name: str
    state: ScheduleState
    changes: int
    changed_us: int
    applied_to: str


def project_schedules(session_id: int, control: SessionControl, entries: Iterable[Entry]) -> Script[None]:
    """Write what entries of a session's log say of its schedules; `control` is the fold that includes them."""
    changed = [entry for entry in entries if isinstance(entry.payload, _CHANGES)]
    for entry in changed:
        match entry.payload:
            case SessionClosed():
                yield from first("end_schedules", session_id, entry.at_us)
            case ScheduleDeleted(name=name):
                yield from first("end_schedule", session_id, name, entry.at_us)
            case ScheduleCreated(definition=definition):
                yield from first("upsert_schedule", *_columns(session_id, control, definition.name))
            case SchedulePaused(name=name) | ScheduleResumed(name=name):
                yield from first("upsert_schedule", *_columns(session_id, control, name))
    if changed:
        yield Touch(frozenset({TOPIC}))


def replace_schedules(session_id: int, control: SessionControl) -> Script[None]:
    """Write a session's schedules anew; Temporal is told of all of them again."""
    yield from first("drop_schedules", session_id)
    yield from batch("upsert_schedule", tuple(_columns(session_id, control, name) for name in control.schedules))
    yield Touch(frozenset({TOPIC}))


def project_ticks(row: ThreadRow, entries: Iterable[Entry]) -> Script[None]:
    """Write what entries of a thread say of ticks, and keep the newest of each schedule."""
    ticked = [(entry, entry.payload) for entry in entries if isinstance(entry.payload, ScheduleTicked)]
    yield from batch("insert_tick", tuple(_tick_columns(row, entry, payload) for entry, payload in ticked))
    for generation in {payload.generation for _, payload in ticked}:
        yield from first("prune_ticks", row.session_id, generation, TICKS_KEPT_MAX)


def replace_ticks(row: ThreadRow, entries: Iterable[Entry], control: SessionControl) -> Script[None]:
    """Write what became of a thread's ticks anew; those of schedules that are no more were forgotten with them."""
    yield from first("delete_ticks", row.id)
    there = {scheduled.generation for scheduled in control.schedules.values()}
    of_these = (entry for entry in entries if getattr(entry.payload, "generation", None) in there)
    yield from project_ticks(row, of_these)


def list_schedules(key: SessionKey) -> Script[tuple[Schedule, ...] | None]:
    """A session's schedules, oldest first, with their newest ticks; None when there is no such session."""
    session = yield from find_session(key)
    if session is None or session.deleted:
        return None
    found = yield from rows("schedules_of_session", session.id)
    seen: tuple[Schedule, ...] = ()
    for row in found:
        seen += ((yield from _seen(key, session.id, row, TICKS_LISTED)),)
    return seen


def find_schedule(key: SessionKey, name: str) -> Script[Schedule | None]:
    """One of a session's schedules, with all ticks that are kept; None when there is none of that name."""
    session = yield from find_session(key)
    if session is None or session.deleted:
        return None
    found = yield from rows("schedules_of_session", session.id)
    row = next((row for row in found if row[1] == name), None)
    return None if row is None else (yield from _seen(key, session.id, row, TICKS_KEPT_MAX))


def find_definition(key: SessionKey, generation: int) -> Script[ScheduleCreated | None]:
    """What made a schedule; None when that was erased, or is not there."""
    entries = yield from read_thread(key.log, generation - 1, 1)
    made = entries[0].payload if entries else None
    return made if isinstance(made, ScheduleCreated) else None


def triggered(key: SessionKey, command: TriggerSchedule) -> Script[tuple[ThreadKey, TakeTick] | Receipt | Rejection]:
    """The tick that somebody asks for by hand, and the thread that it is for; or its receipt, if it is known."""
    session = yield from find_session(key)
    if session is None or session.deleted:
        return UNKNOWN_SESSION
    known = yield from _triggered_before(session.id, command)
    if known is not None:
        return known
    scheduled = session.control.schedules.get(command.name)
    if scheduled is None:
        return UNKNOWN_SCHEDULE
    made = yield from find_definition(key, scheduled.generation)
    if made is None:
        return Rejection("schedule_erased", "what the schedule is to submit was erased; delete it")
    thread, tick = tick_of(key, scheduled.generation, made, command.request_id)
    return thread, replace(tick, principal=command.principal, reason=command.reason)


def _triggered_before(session_id: int, command: TriggerSchedule) -> Script[Receipt | None]:
    """What a trigger was answered; its schedule may be no more, and another one have the name."""
    own = {entry_ids.command(command.request_id, n) for n in range(2)}
    for canonical, body in (yield from rows("requests_named", session_id, command.request_id)):
        receipt = receipt_again(body)
        after_seq = max(0, receipt.seq - TRIGGER_ENTRIES_MAX)
        written = yield from read_thread(ThreadKey.parse(canonical), after_seq, TRIGGER_ENTRIES_MAX, receipt.seq)
        told = (entry.payload for entry in written if entry.entry_id in own)
        if any(isinstance(one, ScheduleTicked) and one.by_hand and one.name == command.name for one in told):
            return receipt
    return None


def tick_of(
    key: SessionKey, generation: int, made: ScheduleCreated, request_id: str, due_us: int = 0
) -> tuple[ThreadKey, TakeTick]:
    """The command that a tick of a schedule is, and the thread that it is for."""
    definition = made.definition
    thread = ThreadKey(key.tenant, key.user, definition.agent, key.session, definition.thread)
    return thread, TakeTick(
        request_id=request_id,
        principal=made.principal,
        turn_id=turn_id(thread, request_id),
        input=definition.input,
        if_busy=IF_BUSY[definition.overlap],
        budget=definition.budget,
        name=definition.name,
        generation=generation,
        catch_up_s=definition.times.catch_up_s,
        due_us=due_us,
    )


def find_due(now_us: int, limit: int) -> Script[list[DueSchedule]]:
    """Schedules that Temporal is to be told of, or asked about."""
    found = yield from rows("due_schedules", now_us, limit)
    return [DueSchedule(row[0], SessionKey(*json.loads(row[1])), *row[2:]) for row in found]


def missed_since_us(due: DueSchedule, caught_up_us: int) -> Script[int | None]:
    """Since when its times were missed, if Temporal has lost it; None when it was never told of it.

    What came before the last tick by the clock or the last change of the schedule, or cannot be caught up any more, is
    not.
    """
    if not due.applied_to:
        return None
    last = yield from first("last_due_tick", due.session_id, due.generation)
    return max(caught_up_us, due.changed_us, 0 if last is None else last[0])


def look_elsewhere(applied_to: str) -> Script[None]:
    """Tell this Temporal at once whatever another one was told."""
    yield from first("look_elsewhere", applied_to)
    yield Touch(frozenset({TOPIC}))


def note_told(due: DueSchedule, applied_to: str, next_us: Iterable[int], now_us: int, look_us: int) -> Script[None]:
    """Keep what Temporal was told and says, unless the schedule was changed meanwhile."""
    yield from first(
        "note_schedule",
        due.session_id, due.generation, due.changes, applied_to, encode(list(next_us)).decode(), now_us, look_us, "",
    )  # fmt: skip
    yield Touch(frozenset({TOLD}))


def note_refused(due: DueSchedule, error: str, look_us: int) -> Script[None]:
    """Keep why Temporal does not take it."""
    yield from first(
        "postpone_schedule", due.session_id, due.generation, look_us, error[:ERROR_CHARACTERS_MAX], due.changes
    )
    yield Touch(frozenset({TOLD}))


def forget_schedule(due: DueSchedule) -> Script[None]:
    """Temporal has nothing any more of a schedule that has ended."""
    yield from first("forget_schedule", due.session_id, due.generation)
    yield from first("forget_ticks", due.session_id, due.generation)
    yield Touch(frozenset({TOLD}))


def are_as_folded(session_id: int, control: SessionControl) -> Script[bool]:
    """Whether the rows of a session's schedules are what its log adds up to."""
    found = yield from rows("schedule_rows", session_id)
    proven = sorted(_columns(session_id, control, name)[1:] for name in control.schedules)
    return [tuple(row) for row in found] == proven


def wrong_ticks(thread_id: int, entries: Iterable[Entry]) -> Script[list[int]]:
    """The numbers of the rows of ticks that are not as the thread's newest `entries` of ticks say."""
    proven = {
        entry.seq: _told_of(entry, entry.payload) for entry in entries if isinstance(entry.payload, ScheduleTicked)
    }
    found = yield from rows("tick_rows", thread_id)
    oldest = min(proven, default=0)
    return [row[0] for row in found if row[0] >= oldest and proven.get(row[0]) != tuple(row[1:])]


def _columns(session_id: int, control: SessionControl, name: str) -> Row:
    one = control.schedules[name]
    state = "paused" if one.paused else "active"
    return session_id, one.generation, name, state, one.changes, one.created_us, one.changed_us


def _tick_columns(row: ThreadRow, entry: Entry, payload: ScheduleTicked) -> Row:
    generation, *rest = _told_of(entry, payload)
    return row.id, entry.seq, row.session_id, generation, *rest


def _told_of(entry: Entry, payload: ScheduleTicked) -> Row:
    return (
        payload.generation, payload.due_us, entry.at_us, entry.turn_id or "", payload.code or "", payload.reason or "",
        int(payload.by_hand),
    )  # fmt: skip


def _seen(key: SessionKey, session_id: int, row: Row, ticks: int) -> Script[Schedule]:
    generation, name, state, created_us, next_, looked_us, error = row
    now_us = yield from clock()
    to_come = () if state == "paused" else tuple(at_us for at_us in json.loads(next_) if at_us > now_us)
    made = yield from find_definition(key, generation)
    found = yield from rows("ticks_of_schedule", session_id, generation, ticks)
    return Schedule(
        key, name, generation, state, "" if made is None else made.principal, created_us,
        None if made is None else made.definition, to_come, looked_us or None, error or None,
        tuple(map(_tick, found)),
    )  # fmt: skip


def _tick(row: Row) -> Tick:
    due_us, at_us, turn, code, reason, by_hand = row
    return Tick(due_us, at_us, turn or None, code or None, reason or None, bool(by_hand))
