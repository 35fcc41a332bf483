"""The `turns` table: a projection of status entries, kept in the transaction of every append."""

from __future__ import annotations

import json
from collections.abc import Iterable

from turnwright.journal.entries import Entry
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.transact.rows import ThreadRow, dump, read_row
from turnwright.journal.turn_status import TurnStatus, begin_status, evolve_status, is_status_entry


def find_turn(turn_id: str, thread_id: int) -> Script[TurnStatus | None]:
    """The row of a turn, if it is this thread's."""
    row = yield from first("find_turn", turn_id)
    return None if row is None or row[0] != thread_id else _status(turn_id, row[1])


def find_turn_thread(turn_id: str) -> Script[ThreadKey | None]:
    """The thread a turn belongs to."""
    row = yield from first("find_turn_thread", turn_id)
    return None if row is None else ThreadKey.parse(row[0])


def parents_of(turn_ids: Iterable[str]) -> Script[set[str]]:
    """The turns that wait for these, as far as they were opened by one."""
    found = yield from rows("turn_bodies", json.dumps(sorted(turn_ids)))
    opened_by = (_status(turn_id, body).parent for turn_id, body in found)
    return {parent.turn_id for parent in opened_by if parent is not None and not parent.detached}


def front_turn(thread_id: int) -> Script[TurnStatus | None]:
    """The first turn of the queue."""
    row = yield from first("front_turn", thread_id)
    return None if row is None else _status("first of a queue", row[0])


def queued_turns(thread_id: int, session_seq_below: int | None, limit: int) -> Script[tuple[TurnStatus, ...]]:
    """Queued turns in order; with `session_seq_below`, only those queued before that entry of the session."""
    below = 2**62 if session_seq_below is None else session_seq_below
    found: list[Row] = yield from rows("queued_turns", thread_id, below, limit)
    return tuple(_status("queued", row[0]) for row in found)


def project_turns(row: ThreadRow, entries: Iterable[Entry]) -> Script[dict[str, TurnStatus]]:
    """Fold status entries into their turns' rows and write those; returns the rows written."""
    changed: dict[str, TurnStatus] = {}
    at_us = row.at_us
    for entry in entries:
        at_us = entry.at_us
        if entry.turn_id is None or not is_status_entry(entry):
            continue
        status = begin_status(entry) or changed.get(entry.turn_id)
        if status is None:
            status = yield from find_turn(entry.turn_id, row.id)
        if status is not None:
            changed[entry.turn_id] = evolve_status(status, entry)
    for status in changed.values():
        yield from first("upsert_turn", *turn_columns(row, status, at_us))
    return changed


def turn_columns(row: ThreadRow, status: TurnStatus, updated_us: int) -> tuple[object, ...]:
    """The parameters of `upsert_turn`."""
    return (
        status.turn_id, row.id, row.session_id, row.key.tenant, status.queue_order, status.phase, status.pause,
        dump(status), status.queued_seq, status.session_seq, status.queued_at_us, updated_us,
        row.key.agent, "-" if row.key.user is None else f"+{row.key.user}",
    )  # fmt: skip


def _status(turn: str, body: bytes) -> TurnStatus:
    return read_row(TurnStatus, body, f"turn {turn}", "turnwright journal rebuild")
