"""Erasing the content of an entry, so that the chain still verifies.

Rule: an erased payload keeps its row. Its salt gives way to the salted digest of what stood there, which is what
the chain covers and which, without the salt, tells nothing; `entry.erased` says who did it and why. What had
been folded from the content is folded no more, so checkpoints of the thread go with it, and what somebody wrote is
taken out of the rows that are shown without their entries: a session's title was listed for ever. The session is
locked meanwhile: another thread might just be keeping the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from turnwright.journal import entry_ids
from turnwright.journal.advance import fold_drafts
from turnwright.journal.codec import body_digest
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
    Payload,
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
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Frozen, media_of
from turnwright.journal.script import Row, Script, first
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import load_state
from turnwright.journal.transact.commands import Done, Undo
from turnwright.journal.transact.lineage import lock_with_forks, tell_forks
from turnwright.journal.transact.reading import read_page
from turnwright.journal.transact.requests import rejected, remember, remembered
from turnwright.journal.transact.rows import Place, SessionRow, ThreadRow, clock, lock_session, write_session
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
PLANS = frozenset({PlanChanged.TYPE, StateUpdated.TYPE})
WORDS = ("title", "summary", "message", "reason", "cancel_reason", "effects_unknown")
F = TypeVar("F", bound=Frozen)


@dataclass(frozen=True, slots=True)
class _Content:
    """What is stored of an entry; `stored` None: erased already."""

    type: str
    version: int
    salt: bytes
    stored: bytes | None
    blob: str | None


def erase_entry(key: ThreadKey, command: EraseEntry) -> Script[Receipt]:
    """Erase an entry's content; one that is erased already stays as it is."""
    row, forks = yield from lock_with_forks(key, command.seq)
    session = None if row is None else (yield from lock_session(key.session_key))
    if row is None or session is None or session.deleted:
        return rejected(command, Rejection("unknown_thread", f"there is no thread {key.canonical}"))
    known = yield from remembered(row.id, command)
    if known is not None:
        return known
    found = yield from first("find_payload", row.id, command.seq)
    if found is None:
        return rejected(command, Rejection("unknown_entry", f"the thread has no entry {command.seq}"))
    content = _content(found)
    kept = KEPT.get(content.type)
    if row.control.planning and content.type in PLANS:
        kept = "a plan is active, and would be so without the agent knowing it; leave the plan first"
    if content.type in INPUTS and content.stored is not None and (yield from _waits(row, command.seq)):
        kept = "no model has been told it yet, and its turn would run without it; cancel that first, or wait"
    if kept is not None:
        return rejected(command, Rejection("not_erasable", f"{content.type} is kept: {kept}"))
    seq = row.seq
    if content.stored is not None:
        entry = yield from _read(row, command.seq)
        yield from _erase(row, command, content, content.stored, entry)
        seq = yield from _say_so(row, session, command, entry)
        yield from tell_forks(forks, command)
    receipt = Receipt(command.request_id, "accepted", seq=seq)
    yield from remember(row.id, command, receipt)
    return receipt


def erase_command(key: ThreadKey, command: EraseEntry) -> Script[Done]:
    """Erase an entry's content, as one of the commands a journal carries out.

    Raises:
        Undo: the command is rejected.
    """
    receipt = yield from erase_entry(key, storable(command))
    if receipt.status == "rejected":
        raise Undo(receipt)
    return Done(receipt)


def _waits(row: ThreadRow, seq: int) -> Script[bool]:
    """Whether that entry's message waits for a model; of a thread that nobody can read nothing does."""
    try:
        state = yield from load_state(row.key)
    except JournalError:
        return False
    return any(message.seq == seq for message in state.inbox)


def _content(found: Row) -> _Content:
    kind, version, salt, body, sha, blob = found
    stored = blob if body is None else body
    return _Content(kind, version, bytes(salt), None if stored is None else bytes(stored), sha)


def _read(row: ThreadRow, seq: int) -> Script[Entry | None]:
    """The entry while it is there; what nobody can read may be erased too."""
    try:
        [entry] = yield from read_page(row.key, Place(row.id, row.seq, row.total_bytes), seq - 1, seq)
    except JournalError:
        return None
    return entry


def _erase(row: ThreadRow, command: EraseEntry, content: _Content, stored: bytes, entry: Entry | None) -> Script[None]:
    yield from first("erase_payload", row.id, command.seq, body_digest(content.salt, stored))
    yield from first("erase_text", row.id, command.seq)
    if content.blob is not None:
        yield from first("delete_unused_blob", row.session_id, content.blob)
    for sha in sorted(set() if entry is None else set(media_of(entry.payload))):
        yield from first("delete_unused_media", row.session_id, sha)
    yield from first("delete_checkpoints", row.id)
    yield from first("forget_snapshots", row.id)


def _say_so(row: ThreadRow, session: SessionRow, command: EraseEntry, erased: Entry | None) -> Script[int]:
    payload = EntryErased(erased_seq=command.seq, principal=command.principal, reason=command.reason)
    drafts = [Draft(entry_ids.command(command.request_id, 0), payload)]
    now_us = yield from clock()
    texts = frozenset[str]() if erased is None else _texts(erased.payload)
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


def forget(value: F, texts: Collection[str]) -> F:
    """The value without these texts where somebody's words are kept, also in what it holds."""
    update: dict[str, object] = {}
    for name, field in type(value).model_fields.items():
        held = getattr(value, name)
        if isinstance(held, Frozen):
            update[name] = forget(held, texts)
        elif name in WORDS and held in texts:
            update[name] = "" if field.is_required() else field.get_default()
    return value.model_copy(update=update)


def _texts(payload: Payload) -> frozenset[str]:
    """What somebody wrote in it, as far as rows beside the entries keep it."""
    said = (getattr(payload, name, None) for name in WORDS)
    return frozenset(text for text in said if isinstance(text, str) and text)
