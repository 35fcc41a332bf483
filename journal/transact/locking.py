"""The locks under which a thread is changed.

Rule: a thread that an older version wrote is rebuilt from its entries before anything is decided about it, in the
same transaction: its control, and the rows that are kept beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.control import REDUCER_VERSION
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Row, Script, first
from turnwright.journal.transact.rebuilding import THREAD_COLUMNS, renew_thread
from turnwright.journal.transact.rows import SessionRow, ThreadRow, session_of, thread_of

_VERSION = 7


@dataclass(frozen=True, slots=True)
class Locked:
    """A thread's head and its session, both locked, and the store's time since they are."""

    row: ThreadRow
    session: SessionRow
    now_us: int


def lock_thread(key: ThreadKey) -> Script[ThreadRow | None]:
    """The thread's head, locked until the transaction ends; None when there is no such thread."""
    row = yield from _renewed(key, "lock_thread", key.canonical)
    return None if row is None else (yield from thread_of(key, row))


def lock_in_session(key: ThreadKey) -> Script[Locked | None]:
    """The thread's head, locked, and its session, locked against its own commands but not against other threads.

    None when there is no such thread. One statement: with a server it is half of what an append costs on the way.
    """
    row = yield from _renewed(key, "lock_in_session", key.canonical, key.session_key.canonical)
    if row is None:
        return None
    session = yield from session_of(key.session_key, row[THREAD_COLUMNS:])
    return Locked((yield from thread_of(key, row)), session, row[-1])


def _renewed(key: ThreadKey, statement: str, *params: str) -> Script[Row | None]:
    """The row under its lock, rebuilt if need be; one whose content was partly erased stays as it is."""
    row = yield from first(statement, *params)
    if row is None or row[_VERSION] >= REDUCER_VERSION:
        return row
    yield from renew_thread(key.canonical, row)
    return (yield from first(statement, *params))
