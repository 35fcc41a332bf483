"""Who set the flags that hold a turn, a thread or a session, who cancelled a turn, and what its tools wait for.

Rule: an entry is read only for what holds now, by its key, so looking costs the same however long the thread is.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.acts import Act, Level, act_of
from turnwright.journal.control import ActiveTurn, PauseFlag, SessionControl
from turnwright.journal.entries import (
    Entry,
    ModelFailed,
    Payload,
    TurnCancelled,
    TurnCancelRequested,
    TurnPaused,
    TurnPauseRequested,
)
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.reading import entry_of, read_page
from turnwright.journal.transact.rows import Place, find_place
from turnwright.journal.turn_status import TurnStatus, status_entry_id

REVISIONS_READ_MAX = 8
Held = dict[Level, Act]


def held_by(
    thread: ThreadKey, flag: PauseFlag, session: SessionControl, turn: TurnStatus | None = None
) -> Script[Held]:
    """Who set each flag that holds, the turn's own first; flags that are not set are left out."""
    found: dict[Level, Act | None] = {}
    if turn is not None and turn.held:
        found["turn"] = yield from _last_act(thread, turn, (TurnPauseRequested, TurnPaused))
    if flag.on:
        found["thread"] = yield from _act_at(thread, flag.seq)
    found |= yield from session_held_by(thread.session_key, session)
    return {level: act for level, act in found.items() if act is not None}


def session_held_by(key: SessionKey, session: SessionControl) -> Script[Held]:
    """Who paused the session, if it is paused."""
    act = (yield from _act_at(key.log, session.pause.seq)) if session.pause.on else None
    return {} if act is None else {"session": act}


def cancelled_by(thread: ThreadKey, turn: TurnStatus) -> Script[Act | None]:
    """Who cancelled the turn, if somebody did."""
    if turn.phase not in ("cancelling", "cancelled"):
        return None
    return (yield from _last_act(thread, turn, (TurnCancelRequested, TurnCancelled)))


def tools_away(thread: ThreadKey, turn: TurnStatus, active: ActiveTurn | None) -> Script[str]:
    """Why the last attempt of the step's model call could not list its tools; empty: it did not fail by that."""
    model = None if active is None else active.model
    place = (yield from find_place(thread)) if model is not None and "tools_away" in model.failures else None
    if model is None or place is None:
        return ""
    entry_id = entry_ids.model(turn.turn_id, model.step, model.ordinal, "failed")
    found = yield from first("turn_entry", place.id, turn.turn_id, entry_id, turn.queued_seq - 1)
    payload = None if found is None else entry_of(found, thread.canonical).payload
    return payload.message if isinstance(payload, ModelFailed) and payload.failure == "tools_away" else ""


def _act_at(key: ThreadKey, seq: int) -> Script[Act | None]:
    place = yield from find_place(key)
    if place is None or not 0 < seq <= place.seq:
        return None
    [entry] = yield from read_page(key, place, seq - 1, seq)
    return act_of(entry)


def _last_act(key: ThreadKey, turn: TurnStatus, kinds: tuple[type[Payload], ...]) -> Script[Act | None]:
    """Somebody's act among the last changes of a turn; what follows from it by itself names nobody."""
    place = yield from find_place(key)
    if place is None:
        return None
    for revision in range(turn.revision, max(0, turn.revision - REVISIONS_READ_MAX), -1):
        entry = yield from _status_entry(key, place, turn, revision)
        act = act_of(entry) if entry is not None and isinstance(entry.payload, kinds) else None
        if act is not None and act.principal:
            return act
    return None


def _status_entry(key: ThreadKey, place: Place, turn: TurnStatus, revision: int) -> Script[Entry | None]:
    entry_id = status_entry_id(turn.turn_id, revision)
    found = yield from first("turn_entry", place.id, turn.turn_id, entry_id, turn.queued_seq - 1)
    return None if found is None else entry_of(found, key.canonical)
