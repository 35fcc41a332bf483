"""Erasing the content of an entry, so that the chain still verifies.

Rule: `entry.erased` says who did it and why. What had been folded from the content is folded no more, so checkpoints of
the thread go with it, and what somebody wrote is taken out of the rows that are shown without their entries: a
session's title was listed for ever. So is what was made of it. The sessions of the thread and of its forks are locked
meanwhile: another thread might just be keeping the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import EraseEntry, Receipt, Rejection
from turnwright.journal.control import ActiveTurn, ThreadControl
from turnwright.journal.edge import storable
from turnwright.journal.entries import (
    ContextCleared,
    Draft,
    Entry,
    EntryErased,
    InputApplied,
    InputDiscarded,
    InputInjected,
    InputSteered,
    PermissionsChanged,
    PlanChanged,
    StateUpdated,
    ThreadForked,
    ThreadMadeWhole,
    ThreadOpened,
    ThreadRewound,
    TurnQueued,
)
from turnwright.journal.errors import JournalError
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import media_of
from turnwright.journal.script import Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import load_state
from turnwright.journal.transact.commands import Done, Undo, admitted
from turnwright.journal.transact.content import (
    Content,
    delete_unused_media,
    erase_content,
    find_content,
    find_readable,
    forget,
    texts_of,
)
from turnwright.journal.transact.lineage import lock_with_forks, tell_forks
from turnwright.journal.transact.locking import Locked
from turnwright.journal.transact.made_of import erase_made_of, lock_sessions
from turnwright.journal.transact.requests import rejected, remember
from turnwright.journal.transact.rows import SessionRow, ThreadRow, clock, write_session
from turnwright.journal.transact.turns import find_turn, turn_columns
from turnwright.journal.turn_status import TurnStatus

KEPT = {
    EntryErased.TYPE: "it says what was erased",
    ThreadOpened.TYPE: "the thread cannot go on without its agent",
    ThreadForked.TYPE: "the thread cannot go on without its agent",
    ThreadRewound.TYPE: "it says what the thread goes on with",
    ThreadMadeWhole.TYPE: "the thread begins with it",
    PermissionsChanged.TYPE: "it holds on, and a call is judged by it",
    InputApplied.TYPE: "it has no content, and a message that a model was told would wait for one again",
    InputDiscarded.TYPE: "it has no content, and a message that was discarded would wait for a model again",
    ContextCleared.TYPE: "the conversation would hold again what was cleared",
}
INPUTS = frozenset({TurnQueued.TYPE, InputSteered.TYPE, InputInjected.TYPE})
NOTHING: Mapping[SessionKey, int] = MappingProxyType({})
PLANS = frozenset({PlanChanged.TYPE, StateUpdated.TYPE})


def erase_entry(key: ThreadKey, command: EraseEntry, looked: Mapping[SessionKey, int] = NOTHING) -> Script[Receipt]:
    """Erase an entry's content; one that is erased already stays as it is.

    `looked`: up to which entry of its log the descriptions of a session were erased before, as far as they were made
    of it.

    Raises:
        Undo: there is no such thread, or its session was deleted.
        ForkedMeanwhile: it is to begin anew.
        MuchMadeOf: descriptions of a session are to be erased before.
    """
    row, forks = yield from lock_with_forks(key, command.seq)
    sessions = {} if row is None else (yield from lock_sessions([key, *(fork.key for fork, _ in forks)]))
    own = sessions.get(key.session_key)
    found = None if row is None or own is None else Locked(row, own.session, (yield from clock()))
    locked = yield from admitted(key, command, found)
    if isinstance(locked, Done):
        return locked.receipt
    row = locked.row
    content = yield from find_content(row, command.seq)
    if content is None:
        return rejected(command, Rejection("unknown_entry", f"the thread has no entry {command.seq}"))
    kept = yield from _kept(row, command.seq, content)
    if kept is not None:
        return rejected(command, Rejection("not_erasable", f"{content.type} is kept: {kept}"))
    seq = row.seq
    if content.stored is not None:
        entry = yield from find_readable(row, command.seq)
        yield from erase_content(row, command.seq, content, content.stored)
        seq = yield from _say_so(row, locked.session, command, entry)
        yield from tell_forks(forks, command)
        yield from _delete_media(entry, {row.session_id, *(fork.session_id for fork, _ in forks)})
        if not key.is_session_log:
            held = {key: command.seq} | {fork.key: number for fork, number in forks}
            for session_key, one in sessions.items():
                yield from erase_made_of(one, held, command, looked.get(session_key, 0))
    receipt = Receipt(command.request_id, "accepted", seq=seq)
    yield from remember(row.id, command, receipt)
    return receipt


def erase_command(key: ThreadKey, command: EraseEntry, looked: Mapping[SessionKey, int]) -> Script[Done]:
    """Erase an entry's content, as one of the commands a journal carries out; `looked` as of `erase_entry`.

    Raises:
        ForkedMeanwhile: it is to begin anew.
        MuchMadeOf: descriptions of a session are to be erased before.
        Undo: the command is rejected.
    """
    receipt = yield from erase_entry(key, storable(command), looked)
    if receipt.status == "rejected":
        raise Undo(receipt)
    return Done(receipt)


def _kept(row: ThreadRow, seq: int, content: Content) -> Script[str | None]:
    """Why the entry's content is not to be erased; None: it may be."""
    kept = KEPT.get(content.type)
    if row.control.planning and content.type in PLANS:
        kept = "a plan is active, and would be so without the agent knowing it; leave the plan first"
    if content.type in INPUTS and content.stored is not None and (yield from _waits(row, seq)):
        kept = "no model has been told it yet, and its turn would run without it; cancel that first, or wait"
    return kept


def _waits(row: ThreadRow, seq: int) -> Script[bool]:
    """Whether that entry's message waits for a model; of a thread that nobody can read nothing does."""
    try:
        state = yield from load_state(row.key)
    except JournalError:
        return False
    return any(message.seq == seq for message in state.inbox)


def _delete_media(erased: Entry | None, sessions: Collection[int]) -> Script[None]:
    """Delete the files that only the erased entry named, in its session and in those that forks were kept with.

    Last: what a fork that was made whole held of its origin names them, too, until it has let go of it.
    """
    named = frozenset[str]() if erased is None else frozenset(media_of(erased.payload))
    for session_id in sorted(sessions):
        yield from delete_unused_media(session_id, named)


def _say_so(row: ThreadRow, session: SessionRow, command: EraseEntry, erased: Entry | None) -> Script[int]:
    payload = EntryErased(erased_seq=command.seq, principal=command.principal, reason=command.reason)
    drafts = [Draft(entry_ids.command(command.request_id, 0), payload)]
    now_us = yield from clock()
    texts = frozenset[str]() if erased is None else texts_of(erased.payload)
    control = fold_drafts(row.control, drafts, now_us)
    if erased is not None and erased.turn_id is not None and texts:
        control = yield from _forget_in_turn(row, control, erased.turn_id, texts, now_us)
    [entry] = yield from append_drafts(row, drafts, control, now_us, runnable=row.runnable)
    if row.key.is_session_log:
        yield from write_session(session.id, evolve_session(forget(session.control, texts), entry), entry.at_us)
    return entry.seq


def _forget_in_turn(
    row: ThreadRow, control: ThreadControl, turn_id: str, texts: Collection[str], now_us: int
) -> Script[ThreadControl]:
    """The control without what somebody wrote about the turn, whose row is rewritten so."""
    status = yield from find_turn(turn_id, row.id)
    if status is not None and (left := forget(status, texts)) != status:
        yield from first("upsert_turn", *turn_columns(row, left, now_us))
    parts: dict[str, ActiveTurn | TurnStatus | None] = {"active": control.active, "failed": control.failed}
    theirs = {name: part for name, part in parts.items() if part is not None and part.turn_id == turn_id}
    return control.model_copy(update={name: forget(part, texts) for name, part in theirs.items()})
