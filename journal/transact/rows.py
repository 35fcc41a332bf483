"""Rows of the stores as values.

Rule: a control that an older version folded is not believed: it is folded anew from the entries. One that a newer
version folded is refused, entries are read all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

from turnwright.journal.canonical import digest, encode
from turnwright.journal.codec import GENESIS, is_newer, problem
from turnwright.journal.control import REDUCER_VERSION, SessionControl, ThreadControl
from turnwright.journal.errors import NewerReducer, StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Frozen
from turnwright.journal.script import Row, Script, first
from turnwright.journal.sealing.values import Unopened, check_opened, is_marked
from turnwright.journal.transact.walking import Walk, walk_thread
from turnwright.journal.ways import way_to_rebuild

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
    reducer_version: int = 0


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


class Place(NamedTuple):
    """Where a thread's entries are, how many, and how large all of them are together."""

    id: int
    seq: int
    total_bytes: int


def find_place(key: ThreadKey) -> Script[Place | None]:
    """The thread's place; its control is not read, so it may be one of another version."""
    row = yield from first("find_thread", key.canonical)
    return None if row is None else Place(row[0], row[2], row[10])


def find_session_id(key: SessionKey) -> Script[int | None]:
    """The session's number, unless it was deleted; its control is not read either."""
    row = yield from first("find_session", key.canonical)
    return None if row is None or row[3] is not None else int(row[0])


def find_thread(key: ThreadKey) -> Script[ThreadRow | None]:
    """The thread's head without a lock."""
    row = yield from first("find_thread", key.canonical)
    return None if row is None else (yield from thread_of(key, row))


def create_thread(key: ThreadKey, session_id: int, now_us: int) -> Script[None]:
    """Make the thread if it is not there; it is not locked then."""
    control = dump(ThreadControl())
    yield from first(
        "insert_thread",
        key.canonical, session_id, key.tenant, key.agent, key.thread, GENESIS, now_us, control, REDUCER_VERSION,
    )  # fmt: skip


def find_session(key: SessionKey) -> Script[SessionRow | None]:
    """The session without a lock."""
    row = yield from first("find_session", key.canonical)
    return None if row is None else (yield from session_of(key, row))


def lock_session(key: SessionKey) -> Script[SessionRow | None]:
    """The session, locked for one of its own commands."""
    row = yield from first("lock_session", key.canonical)
    return None if row is None else (yield from session_of(key, row))


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


def thread_of(key: ThreadKey, row: Row) -> Script[ThreadRow]:
    """A row of `find_thread`."""
    if is_marked(row[6]) and not isinstance(row[6], Unopened):
        control = yield from _destroyed_control(key, row)
    else:
        control = yield from thread_control(key, row[0], row[6], row[7])
    if not key.is_session_log and control.seq != row[2]:
        raise misplaced(key, control.seq, row[2])
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


def _destroyed_control(key: ThreadKey, row: Row) -> Script[ThreadControl]:
    """What is left of a control whose data key is gone: of a session that was deleted nothing is decided any more."""
    session = yield from first("raw_session", row[1])
    if session is None or session[5] is None:
        raise StoreCorrupt("the data key of its session is missing", key.canonical)
    return ThreadControl(seq=row[2])


def misplaced(key: ThreadKey, seq: int, head_seq: int) -> StoreCorrupt:
    """A control that is not the one of the last entry."""
    message = f"the control is at seq {seq}, the head at {head_seq}"
    return StoreCorrupt(message, key.canonical, head_seq, rebuild=way_to_rebuild(key))


def session_of(key: SessionKey, row: Row) -> Script[SessionRow]:
    """A row of `find_session`."""
    control = yield from session_control(key, row[1], row[2])
    return SessionRow(row[0], control, deleted=row[3] is not None, reducer_version=row[2])


def thread_control(key: ThreadKey, thread_id: int, body: bytes, version: int) -> Script[ThreadControl]:
    """A thread's control: the stored one, or the fold of the entries if an older version stored it."""
    walk = (yield from _walked(key, thread_id)) if version < REDUCER_VERSION else None
    return read_control(ThreadControl, body, version, key) if walk is None else walk.control


def session_control(key: SessionKey, body: bytes, version: int) -> Script[SessionControl]:
    """A session's control: the stored one, or the fold of its log if an older version stored it."""
    log = (yield from find_place(key.log)) if version < REDUCER_VERSION else None
    walk = None if log is None else (yield from _walked(key.log, log.id))
    return read_control(SessionControl, body, version, key) if walk is None else walk.session


def _walked(key: ThreadKey, thread_id: int) -> Script[Walk | None]:
    """The fold of a thread's entries; None when some were erased, so that what is stored is all there is."""
    walk = yield from walk_thread(key, thread_id)
    if walk.findings:
        raise StoreCorrupt(walk.findings[0].problem, key.canonical, walk.findings[0].seq)
    return walk if walk.whole else None


def read_control(kind: type[C], body: bytes, version: int, key: ThreadKey | SessionKey) -> C:
    """A stored control as it is, unless a newer version wrote it or it cannot be read."""
    if version > REDUCER_VERSION:
        raise NewerReducer(
            f"{key.canonical} was written by reducer version {version}, this process has {REDUCER_VERSION}; upgrade it"
        )
    return read_row(kind, body, key.canonical, way_to_rebuild(key))


def read_row(kind: type[C], body: bytes, where: str, rebuild: str) -> C:
    """A stored projection.

    Raises:
        NewerReducer: it holds what this version does not know.
        StoreCorrupt: it cannot be read; `rebuild` is the command that writes it anew.
    """
    check_opened(body)
    try:
        return kind.model_validate_json(bytes(body))
    except (ValueError, TypeError) as error:
        if is_newer(error):
            raise NewerReducer(
                f"{kind.__name__} of {where} was written by a newer version ({problem(error)}); upgrade it"
            ) from None
        message = f"the stored {kind.__name__} cannot be read: {problem(error)}"
        raise StoreCorrupt(message, where, rebuild=rebuild) from error
