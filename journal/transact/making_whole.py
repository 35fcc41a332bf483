"""Making a fork whole: its own log holds what it begins with, and its origin is needed no more.

Rule: the first entry stays as it is; the state it names stands in an entry of the fork, with the media of it beside. So
all that the fork ever was can be read as before, and the history that led there is the origin's still.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import MakeWhole, Receipt, Rejection
from turnwright.journal.edge import storable
from turnwright.journal.entries import Draft, ThreadMadeWhole
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Script, first
from turnwright.journal.transact.ahead import Ahead, confirmed
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import FIRST_SEQ, origin_of
from turnwright.journal.transact.commands import Done, Undo, admitted
from turnwright.journal.transact.locking import Locked, lock_in_session
from turnwright.journal.transact.reading import find_blob, missing_blobs
from turnwright.journal.transact.requests import rejected, remember


def make_whole_command(key: ThreadKey, command: MakeWhole, ahead: Ahead | None) -> Script[Done]:
    """Make a fork whole with what was read `ahead` of it, and whose media were copied as far as they could be.

    Raises:
        InvalidInput: the command holds what no journal can keep.
        Undo: it is rejected.
        Outdated: what the fork begins with is to be read first.
        StoreCorrupt: the thread it was forked from is gone.
    """
    command = storable(command)
    locked = yield from admitted(key, command, (yield from lock_in_session(key)))
    if isinstance(locked, Done):
        return locked
    base = yield from first("find_base", locked.row.id, FIRST_SEQ)
    if base is None:
        raise Undo(rejected(command, Rejection("not_a_fork", "the thread begins with nothing of another one")))
    if base[6] is not None:
        raise Undo(rejected(command, Rejection("whole_already", f"its entry {base[6]} holds what it begins with")))
    origin_of(key, base)
    receipt = yield from _write(locked, (yield from confirmed(locked.row, ahead)).state, command)
    yield from remember(locked.row.id, command, receipt)
    return Done(receipt)


def _write(locked: Locked, state: AgentState, command: MakeWhole) -> Script[Receipt]:
    row = locked.row
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
