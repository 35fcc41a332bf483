"""Making a fork whole: its own log holds what it begins with, and its origin is needed no more.

Rule: the first entry stays as it is; the state it names stands in an entry of the fork, with the media of it beside. So
all that the fork ever was can be read as before, and the history that led there is the origin's still.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import MakeWhole, Receipt, Rejection
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.edge import storable
from turnwright.journal.entries import Draft, ThreadMadeWhole
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Row, Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import FIRST_SEQ, load_at
from turnwright.journal.transact.commands import Done, Undo
from turnwright.journal.transact.locking import Locked, lock_in_session
from turnwright.journal.transact.reading import find_blob, missing_blobs
from turnwright.journal.transact.requests import rejected, remember, remembered
from turnwright.journal.transact.rows import Place


def make_whole_command(key: ThreadKey, command: MakeWhole) -> Script[Done]:
    """Make a fork whole.

    Raises:
        Undo: the command is rejected.
    """
    command = storable(command)
    locked = yield from lock_in_session(key)
    if locked is None:
        raise Undo(rejected(command, Rejection("unknown_thread", f"there is no thread {key.canonical}")))
    if locked.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    known = yield from remembered(locked.row.id, command)
    if known is not None:
        return Done(known)
    base = yield from first("find_base", locked.row.id, FIRST_SEQ)
    if base is None:
        raise Undo(rejected(command, Rejection("not_a_fork", "the thread begins with nothing of another one")))
    if base[6] is not None:
        raise Undo(rejected(command, Rejection("whole_already", f"its entry {base[6]} holds what it begins with")))
    receipt = yield from _write(locked, base, command)
    yield from remember(locked.row.id, command, receipt)
    return Done(receipt)


def _write(locked: Locked, base: Row, command: MakeWhole) -> Script[Receipt]:
    row, (_, at_seq, canonical, origin_id, _, total_bytes, _) = locked.row, base
    if canonical is None:
        raise StoreCorrupt("the thread it was forked from is gone", row.key.canonical, FIRST_SEQ)
    origin = ThreadKey.parse(canonical)
    state = (yield from load_at(origin, Place(origin_id, at_seq, total_bytes), at_seq)).state
    payload = ThreadMadeWhole(state=state, principal=command.principal, reason=command.reason)
    drafts = [Draft(entry_ids.command(command.request_id, 0), payload)]
    blobs: dict[str, bytes] = {}
    for sha in sorted((yield from missing_blobs(row.session_id, set(media_of(payload))))):
        body = yield from find_blob(row.key.session_key, sha)
        if body is not None:
            blobs[sha] = body
    control = fold_drafts(row.control, drafts, locked.now_us)
    [entry] = yield from append_drafts(row, drafts, control, locked.now_us, runnable=row.runnable, blobs=blobs)
    yield from first("move_whole", row.id, entry.seq)
    return Receipt(command.request_id, "accepted", seq=entry.seq)
