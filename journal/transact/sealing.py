"""What was written before a journal had keys is sealed, and data keys are wrapped by the newest of them.

Rule: a script reads what it writes, and between it and the store the one is opened and the other is sealed
(`turnwright.journal.sealing`). So sealing is writing again, in pieces under the locks of whoever writes else; to do it
twice changes nothing. What cannot be opened is left as it is: sealed once more, nobody could say what it was.
"""

from __future__ import annotations

from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, batch, first, rows
from turnwright.journal.sealing.values import Unopened
from turnwright.journal.transact.walking import next_page

ROWS_MAX = 500
SALT, BODY, BLOB, BLOB_BODY = 13, 14, 15, 16


def seal_entries(canonical: str, after: int) -> Script[tuple[int, int | None]]:
    """Seal the next entries of a thread; how many, and behind which to go on (None: that was all)."""
    locked = yield from _lock(canonical)
    page = [] if locked is None else (yield from next_page(locked[0], after))
    if locked is None or not page:
        return 0, None
    content = ((locked[0], row[0], row[SALT], row[BODY], row[BLOB]) for row in page if _is_whole(row))
    yield from batch("reseal_payload", tuple(content))
    return len(page), page[-1][0]


def seal_turns(canonical: str, after: str) -> Script[str | None]:
    """Seal the next turns of a thread; behind which to go on (None: that was all)."""
    locked = yield from _lock(canonical)
    page = [] if locked is None else (yield from rows("turns_to_seal", locked[0], after, ROWS_MAX))
    if locked is None or not page:
        return None
    yield from batch("reseal_turn", tuple((locked[0], *row) for row in page))
    return str(page[-1][0])


def seal_requests(canonical: str, after: str) -> Script[str | None]:
    """Seal what a thread remembers of the next requests; behind which to go on (None: that was all)."""
    locked = yield from _lock(canonical)
    page = [] if locked is None else (yield from rows("exported_requests", locked[0], after, ROWS_MAX))
    if locked is None or not page:
        return None
    known = tuple((locked[0], request_id, digest, receipt) for request_id, _, digest, receipt in page)
    yield from batch("reseal_request", known)
    return str(page[-1][0])


def seal_head(canonical: str) -> Script[None]:
    """Seal a thread's control and its checkpoints, and have its words indexed anew, which leaves none of them."""
    locked = yield from _lock(canonical)
    if locked is None:
        return
    thread_id = locked[0]
    if not isinstance(locked[6], Unopened):
        yield from first("reseal_thread", thread_id, locked[6])
    checkpoints = yield from rows("checkpoint_rows", thread_id, STATE_REDUCER_VERSION)
    yield from first("delete_checkpoints", thread_id)
    for seq, body in (row for row in checkpoints if not isinstance(row[1], Unopened)):
        yield from first("insert_checkpoint", thread_id, seq, STATE_REDUCER_VERSION, body)
    yield from first("move_searched", thread_id, 0)


def seal_blob(key: SessionKey, after: str) -> Script[str | None]:
    """Seal the next file of a session; behind which to go on (None: that was all)."""
    session = yield from first("lock_session", key.canonical)
    row = None if session is None or session[3] is not None else (yield from first("next_blob", session[0], after))
    if session is None or row is None:
        return None
    yield from first("reseal_blob", session[0], *row)
    return str(row[0])


def seal_control(key: SessionKey) -> Script[None]:
    """Seal a session's control, first of all: whoever has no keys writes nothing to its threads from then on."""
    session = yield from first("lock_session", key.canonical)
    if session is not None and session[3] is None and not isinstance(session[1], Unopened):
        yield from first("reseal_session", session[0], session[1])


def seal_webhooks(key: SessionKey) -> Script[None]:
    """Seal a session's webhooks, last of all: with that nothing of it is left unsealed."""
    session = yield from first("lock_session", key.canonical)
    if session is None or session[3] is not None:
        return
    after: tuple[int, str] = (0, "")
    while page := (yield from rows("webhooks_of_session", session[0], "", *after, ROWS_MAX)):
        yield from batch("reseal_webhook", tuple((session[0], row[0], row[3], row[5]) for row in page))
        after = (page[-1][7], page[-1][0])
    yield from first("data_key_is_whole", session[0])


def _is_whole(row: Row) -> bool:
    """Whether the entry's content is there and can be opened; one that is damaged stays as it is."""
    stored = row[BLOB_BODY] if row[BODY] is None else row[BODY]
    return row[SALT] is not None and stored is not None and not isinstance(stored, Unopened)


def _lock(canonical: str) -> Script[Row | None]:
    """The thread's row, locked; None: its session was deleted."""
    key = ThreadKey.parse(canonical)
    locked = yield from first("lock_in_session", canonical, key.session_key.canonical)
    return None if locked is None or locked[-2] is not None else locked
