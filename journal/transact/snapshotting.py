"""How far the states of threads were brought to places outside.

Rule: a thread's row is there before anything of it is written outside, under the session's lock: whoever deletes the
session knows all that may be there. A row moves only from where it was read to stand, so what was erased meanwhile is
seen. Committing an entry writes nothing here: what is due is found by looking.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.canonical import encode
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script, Touch, first, rows

TOPIC = "snapshots"
COUNTED_AS = "snapshots"
NEVER = 0
THREADS_DELETED_MAX = 500
ROWS_RESET_MAX = 1_000


@dataclass(frozen=True, slots=True)
class DueThread:
    """A thread whose state is to be brought outside. `reached` is where its row stands, None: it has none."""

    id: int
    key: ThreadKey
    seq: int
    turn_id: str
    reached: int | None


@dataclass(frozen=True, slots=True)
class DuePage:
    """What is due among a page of threads. `after`: where the next page begins, 0 when this was the last."""

    threads: tuple[DueThread, ...]
    after: int


@dataclass(frozen=True, slots=True)
class Doomed:
    """A deleted session of which something is outside, and up to so many of its threads, by id."""

    session_id: int
    session: SessionKey
    threads: dict[int, ThreadKey]


def find_due_snapshots(target: str, after: int, limit: int) -> Script[DuePage]:
    """Of a page of threads, those whose state is to be brought to the target."""
    last = yield from first("last_of_threads", after, limit)
    found = yield from rows("due_snapshots", after, limit, target, STATE_REDUCER_VERSION)
    threads = tuple(DueThread(row[0], ThreadKey.parse(row[1]), *row[2:]) for row in found)
    return DuePage(threads, 0 if last is None or last[1] < limit else last[0])


def begin_snapshot(target: str, key: ThreadKey) -> Script[DueThread | None]:
    """See that the thread has a row before its state is brought there; None: it or its session was deleted."""
    locked = yield from first("lock_in_session", key.canonical, key.session_key.canonical)
    if locked is None or locked[-2] is not None:
        return None
    thread_id, session_id, turn_id = int(locked[0]), int(locked[1]), locked[12] or ""
    row = yield from first("find_snapshot", thread_id, target)
    yield Touch(frozenset({TOPIC}))
    if row is None:
        yield from first("insert_snapshot", thread_id, target, session_id, key.canonical)
    return DueThread(thread_id, key, locked[2], turn_id, NEVER if row is None else row[0])


def save_snapshot(target: str, due: DueThread, as_of_seq: int) -> Script[bool]:
    """Say that the thread's state is there; False: meanwhile something was erased, or all of it deleted."""
    yield Touch(frozenset({TOPIC}))
    row = yield from first("move_snapshot", due.id, target, due.reached, as_of_seq, STATE_REDUCER_VERSION, due.turn_id)
    return row is not None


def adopt_place(target: str, place_id: str, after: int) -> Script[int]:
    """Have everything brought to the target anew if it is not the place it was, a piece of it behind a thread's id.

    Returns where the next piece begins; 0: that was all.
    """
    name = f"snapshots:{target}"
    known = yield from first("find_meta", name)
    if known is not None and known[0] == place_id:
        return 0
    reset = yield from rows("reset_snapshots", target, after, ROWS_RESET_MAX)
    yield Touch(frozenset({TOPIC}))
    if len(reset) == ROWS_RESET_MAX:
        return max(int(row[0]) for row in reset)
    yield from first("upsert_meta", name, place_id)
    return 0


def find_doomed(target: str, after: int) -> Script[Doomed | None]:
    """The next deleted session, by id, of which something is at the target."""
    session = yield from first("doomed_session", target, after)
    if session is None:
        return None
    found = yield from rows("doomed_snapshots", target, session[0], THREADS_DELETED_MAX)
    threads = {row[0]: ThreadKey.parse(row[1]) for row in found}
    return Doomed(session[0], SessionKey(*json.loads(session[1])), threads)


def finish_doomed(target: str, doomed: Doomed) -> Script[None]:
    """Say that nothing of these threads is at the target any more, also in the session's tombstone."""
    tombstone = yield from first("lock_tombstone", doomed.session_id)
    gone = 0
    for thread_id in sorted(doomed.threads):
        row = yield from first("find_snapshot", thread_id, target)
        gone += row is not None
        yield from first("delete_snapshot", thread_id, target)
    if tombstone is not None:
        counts = json.loads(bytes(tombstone[5]))
        counts[COUNTED_AS] = counts.get(COUNTED_AS, 0) + gone
        yield from first("write_tombstone", doomed.session_id, encode(counts), tombstone[4])
    yield Touch(frozenset({TOPIC}))


def forget_target(target: str) -> Script[int]:
    """Forget a piece of what was brought to the target; of how many threads, 0 when all is forgotten."""
    found = yield from rows("delete_snapshots", target, ROWS_RESET_MAX)
    yield Touch(frozenset({TOPIC}))
    return len(found)


def count_snapshots(session_id: int) -> Script[int]:
    """Of how many of the session's states something is still outside."""
    row = yield from first("count_snapshots", session_id)
    return 0 if row is None else int(row[0])
