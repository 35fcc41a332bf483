"""Rows of the stores as values, and the locks that are taken to read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from turnwright.journal.canonical import digest, encode
from turnwright.journal.codec import GENESIS
from turnwright.journal.control import REDUCER_VERSION, SessionControl, ThreadControl
from turnwright.journal.errors import NewerReducer, StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Frozen
from turnwright.journal.script import Row, Script, first

C = TypeVar("C", bound=Frozen)


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread's head."""

    key: ThreadKey
    id: int
    session_id: int
    seq: int
    hash: bytes
    at_us: int
    control: ThreadControl
    tail_bytes: int
    checkpoint_bytes: int
    total_bytes: int
    runnable: bool
    reducer_version: int


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as its threads see it."""

    id: int
    control: SessionControl
    deleted: bool


@dataclass(frozen=True, slots=True)
class Locked:
    """A thread's head and its session, both locked, and the store's time since they are."""

    row: ThreadRow
    session: SessionRow
    now_us: int


_THREAD_COLUMNS = 14
TOPICS_CACHED_MAX = 4_096
CHECKPOINT_TAIL_BYTES_MIN = 256 * 1024


def is_due(tail_bytes: int, checkpoint_bytes: int) -> bool:
    """Whether so much came since the last checkpoint that the next one pays."""
    return tail_bytes >= max(CHECKPOINT_TAIL_BYTES_MIN, checkpoint_bytes)


@lru_cache(maxsize=TOPICS_CACHED_MAX)
def topic(key: ThreadKey | SessionKey) -> str:
    """The short name under which commits of a thread or session are announced."""
    return digest(key.canonical.encode()).hex()[:24]


def dump(value: Frozen) -> bytes:
    """A control or row body as canonical JSON."""
    return encode(value.model_dump(mode="json", exclude_defaults=True))


def find_thread(key: ThreadKey) -> Script[ThreadRow | None]:
    """The thread's head without a lock."""
    row = yield from first("find_thread", key.canonical)
    return None if row is None else _thread(key, row)


def lock_thread(key: ThreadKey) -> Script[ThreadRow | None]:
    """The thread's head, locked until the transaction ends; None when there is no such thread."""
    row = yield from first("lock_thread", key.canonical)
    return None if row is None else _thread(key, row)


def lock_in_session(key: ThreadKey) -> Script[Locked | None]:
    """The thread's head, locked, and its session, locked against its own commands but not against other threads.

    None when there is no such thread. One statement: with a server it is half of what an append costs on the way.
    """
    row = yield from first("lock_in_session", key.canonical, key.session_key.canonical)
    if row is None:
        return None
    session = _session(row[_THREAD_COLUMNS:], key.session_key)
    assert session is not None
    return Locked(_thread(key, row), session, row[-1])


def create_thread(key: ThreadKey, session_id: int, now_us: int) -> Script[None]:
    """Make the thread if it is not there; it is not locked then."""
    control = dump(ThreadControl())
    yield from first(
        "insert_thread",
        key.canonical, session_id, key.tenant, key.agent, key.thread, GENESIS, now_us, control, REDUCER_VERSION,
    )  # fmt: skip


def find_session(key: SessionKey) -> Script[SessionRow | None]:
    """The session without a lock."""
    return _session((yield from first("find_session", key.canonical)), key)


def lock_session(key: SessionKey) -> Script[SessionRow | None]:
    """The session, locked for one of its own commands."""
    return _session((yield from first("lock_session", key.canonical)), key)


def write_session(session_id: int, control: SessionControl, at_us: int) -> Script[None]:
    """The control of a locked session, and what stands beside it."""
    yield from first(
        "update_session",
        session_id, dump(control), REDUCER_VERSION, at_us, int(control.pause.on), control.cancelled_seq,
    )  # fmt: skip


def clock() -> Script[int]:
    """The store's time, microseconds since 1970 UTC."""
    row = yield from first("clock")
    assert row is not None
    now_us: int = row[0]
    return now_us


def _thread(key: ThreadKey, row: Row) -> ThreadRow:
    control = read_control(ThreadControl, row[6], row[7], key.canonical)
    if not key.is_session_log and control.seq != row[2]:
        raise StoreCorrupt(f"the control is at seq {control.seq}, the head at {row[2]}", key.canonical, row[2])
    return ThreadRow(
        key=key,
        id=row[0],
        session_id=row[1],
        seq=row[2],
        hash=bytes(row[3]),
        at_us=row[4],
        control=control,
        tail_bytes=row[8],
        checkpoint_bytes=row[9],
        total_bytes=row[10],
        runnable=bool(row[13]),
        reducer_version=row[7],
    )


def _session(row: Row | None, key: SessionKey) -> SessionRow | None:
    if row is None:
        return None
    control = read_control(SessionControl, row[1], row[2], key.canonical)
    return SessionRow(row[0], control, deleted=row[3] is not None)


def read_control(kind: type[C], body: bytes, version: int, where: str) -> C:
    """A stored control, unless a newer version wrote it or it cannot be read."""
    if version > REDUCER_VERSION:
        raise NewerReducer(
            f"{where} was written by reducer version {version}, this process has {REDUCER_VERSION}; upgrade it"
        )
    try:
        return kind.model_validate_json(bytes(body))
    except ValueError as error:
        raise StoreCorrupt(f"the stored {kind.__name__} cannot be read: {error}", where) from error
