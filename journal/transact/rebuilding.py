"""Write anew what is only a projection of the entries: controls, turns, questions, checkpoints, counters.

Rule: one thread or session is one transaction under its lock, so that work goes on meanwhile; a long thread is read
before it. What the entries do not prove is not overwritten: a broken chain or an erased content ends the rebuild of
that thread with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.control import REDUCER_VERSION, SessionControl
from turnwright.journal.errors import NewerReducer, StoreCorrupt
from turnwright.journal.facts import Facts
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, Touch, batch, first
from turnwright.journal.stalls import has_work
from turnwright.journal.transact.bases import replace_bases, walk_based
from turnwright.journal.transact.deadlines import asks_for_budget, earliest_us, write_deadline
from turnwright.journal.transact.interactions import put_interactions, replace_interactions
from turnwright.journal.transact.rows import (
    ThreadRow,
    dump,
    find_session,
    find_thread,
    is_due,
    session_of,
    topic,
    write_session,
)
from turnwright.journal.transact.schedules import replace_schedules, replace_ticks
from turnwright.journal.transact.spending import spent_columns
from turnwright.journal.transact.turns import turn_columns
from turnwright.journal.transact.walking import Ahead, Walk, go_on, walk_thread
from turnwright.journal.turn_status import TurnStatus

THREAD_COLUMNS = 14


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was written anew. `kept`: why it was left as it is."""

    where: str
    entries: int = 0
    turns: int = 0
    checkpoints: int = 0
    kept: str = ""


def rebuild_thread(canonical: str, ahead: Ahead | None = None) -> Script[Rebuilt | None]:
    """Rebuild a thread or session log from its entries; None when it is gone, or its session was deleted.

    `ahead`: what was read of it before. Its words are found anew once `index_some` has gone through it.

    Raises:
        StoreCorrupt: its entries are not what was written.
        NewerReducer: a newer version wrote it.
    """
    key = ThreadKey.parse(canonical)
    locked = yield from first("lock_in_session", canonical, key.session_key.canonical)
    if locked is None:
        return None
    session = yield from session_of(key.session_key, locked[THREAD_COLUMNS:])
    if session.deleted:
        return None
    rebuilt = yield from renew_thread(canonical, locked, ahead)
    yield from first("move_searched", locked[0], 0)
    if not rebuilt.kept and not key.is_session_log:
        row = yield from find_thread(key)
        assert row is not None, "it is locked"
        yield from replace_spent(row, session.control)
    return rebuilt


def renew_thread(canonical: str, locked: Row, ahead: Ahead | None = None) -> Script[Rebuilt]:
    """Rebuild a thread whose row is locked; of one whose content was partly erased only its questions.

    What it takes of its session's budget is left to `rebuild`: the fold of an older version's entries is what was
    counted when the budget was set.
    """
    thread_id, session_id, version = locked[0], locked[1], locked[7]
    if version > REDUCER_VERSION:
        raise NewerReducer(f"{canonical} was written by reducer version {version}; rebuild it with that version")
    walk = yield from _walked(ThreadKey.parse(canonical), thread_id, ahead)
    if walk.findings:
        wrong = walk.findings[0]
        raise StoreCorrupt(wrong.problem, canonical, wrong.seq)
    row = head_of(walk, thread_id, session_id)
    yield from replace_bases(walk, thread_id)
    if not walk.whole:
        yield from put_interactions(row, walk.interactions.values())
        return Rebuilt(canonical, walk.seq, kept=_left(walk))
    session = (yield from find_session(walk.key.session_key)) if walk.ticks else None
    checkpoints = yield from _write_walk(row, walk, SessionControl() if session is None else session.control)
    yield from first("delete_hint", thread_id)
    yield Touch(frozenset({topic(walk.key), topic(walk.key.session_key)}))
    return Rebuilt(canonical, walk.seq, len(walk.turns), checkpoints)


def _left(walk: Walk) -> str:
    """Why what the entries add up to is not known."""
    if walk.sealed:
        return f"{len(walk.sealed)} entries are sealed under a key that was not given: rebuild with all keys"
    return f"the content of {len(walk.erased)} entries was erased"


def _walked(key: ThreadKey, thread_id: int, ahead: Ahead | None) -> Script[Walk]:
    """All of its entries, folded: what came since they were read, or all anew if something of them is otherwise now."""
    if ahead is not None and ahead.thread_id == thread_id and not ahead.walk.findings:
        erased = yield from first("find_erasure", thread_id, ahead.since)
        walk = None if erased is not None else (yield from go_on(ahead))
        if walk is not None and walk.bases.keys() == ahead.walk.bases.keys():
            return walk
    return (yield from walk_based(key, thread_id))


def _write_walk(row: ThreadRow, walk: Walk, session: SessionControl) -> Script[int]:
    """What the entries of a thread add up to; returns how many checkpoints that are."""
    yield from replace_head(row)
    yield from first("delete_turns", row.id)
    yield from put_turns(row, walk.turns.values())
    yield from replace_interactions(row, walk.interactions.values())
    yield from replace_ticks(row, walk.ticks, session)
    return (yield from replace_checkpoints(row, walk))


def rebuild_session(canonical: str) -> Script[Rebuilt | None]:
    """Rebuild a session's control from its log, and its counter; None when it is gone or deleted."""
    key = SessionKey(*json.loads(canonical))
    log = yield from first("lock_thread", key.log.canonical)
    locked = yield from first("lock_session", canonical)
    if log is None or locked is None or locked[3] is not None:
        return None
    walk = yield from walk_thread(key.log, log[0])
    if walk.findings:
        wrong = walk.findings[0]
        raise StoreCorrupt(wrong.problem, key.log.canonical, wrong.seq)
    if not walk.whole:
        return Rebuilt(canonical, walk.seq, kept=_left(walk))
    yield from write_session(locked[0], walk.session, walk.at_us)
    yield from replace_schedules(locked[0], walk.session)
    yield from first("replace_position", locked[0])
    yield Touch(frozenset({topic(key)}))
    return Rebuilt(canonical, walk.seq)


def head_of(walk: Walk, thread_id: int, session_id: int) -> ThreadRow:
    """The head as it will be."""
    runnable = not walk.key.is_session_log and has_work(walk.control, Facts(walk.at_us, front=walk.front))
    return ThreadRow(
        key=walk.key,
        id=thread_id,
        session_id=session_id,
        seq=walk.seq,
        hash=walk.hash,
        at_us=walk.at_us,
        control=walk.control,
        tail_bytes=walk.body_bytes,
        checkpoint_bytes=0,
        total_bytes=walk.body_bytes,
        runnable=runnable,
        reducer_version=REDUCER_VERSION,
    )


def replace_head(row: ThreadRow) -> Script[None]:
    """A thread's head, its control, and the deadline that follows from it."""
    control = row.control
    active = None if control.active is None else control.active.turn_id
    yield from first(
        "replace_head",
        row.id, row.seq, row.hash, row.at_us, control.epoch, dump(control), REDUCER_VERSION, row.total_bytes,
        control.queued, active, int(row.runnable),
    )  # fmt: skip
    due_us = row.at_us if asks_for_budget(control) else earliest_us(control)
    yield from write_deadline(row.id, due_us)


def replace_spent(row: ThreadRow, session: SessionControl) -> Script[None]:
    """What the thread takes of its session's budget, if there is one."""
    yield from first("delete_spent", row.id)
    if session.budget is not None:
        yield from first("upsert_spent", *spent_columns(row.id, row.session_id, row.control))


def put_turns(row: ThreadRow, turns: Iterable[TurnStatus]) -> Script[None]:
    """The rows of these turns of a thread."""
    yield from batch("upsert_turn", tuple(turn_columns(row, s, _last_change_us(s)) for s in turns))


def _last_change_us(status: TurnStatus) -> int:
    return status.ended_at_us or status.started_at_us or status.queued_at_us


def replace_checkpoints(row: ThreadRow, walk: Walk) -> Script[int]:
    """The state as a checkpoint, where one pays; returns how many that are."""
    yield from first("delete_checkpoints", row.id)
    if walk.key.is_session_log or not walk.based or not is_due(row.tail_bytes, 0):
        return 0
    body = dump(walk.state)
    yield from first("insert_checkpoint", row.id, walk.seq, STATE_REDUCER_VERSION, body)
    yield from first("reset_tail", row.id, len(body))
    return 1
