"""Commands of callers and operators: decided once, remembered for ever.

Rule: the receipt is what was committed; a request that is known is answered with its first receipt.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from turnwright.journal.agent_state import AgentState
from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import (
    ClientCommand,
    CreateSession,
    ImportThread,
    Inject,
    LoggedCommand,
    Receipt,
    Rejection,
    SetSessionBudget,
    Submit,
    TriggerSchedule,
    TurnCommand,
)
from turnwright.journal.control import REDUCER_VERSION, SessionControl
from turnwright.journal.decide import decide_session
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.edge import storable
from turnwright.journal.entries import ScheduleTicked, SessionCreated
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script, first
from turnwright.journal.transact.ahead import Ahead
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.locking import Locked, lock_in_session, lock_thread
from turnwright.journal.transact.made_of import lock_made_of, was_erased
from turnwright.journal.transact.reading import read_thread
from turnwright.journal.transact.requests import gone, rejected, remember, remembered
from turnwright.journal.transact.rows import (
    SessionRow,
    ThreadRow,
    clock,
    create_thread,
    dump,
    find_session,
    lock_session,
    write_session,
)
from turnwright.journal.transact.schedules import project_schedules, triggered
from turnwright.journal.transact.spending import follow_budget, with_all_bounds
from turnwright.journal.transact.thread_script import Outcome, Terms, run_thread

OPENING = (Submit, Inject, ImportThread)
FIRST_SEQ = 1


class Undo(Exception):
    """Leaves a transaction without a trace; the receipt is the answer."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__(receipt.code)
        self.receipt = receipt


@dataclass(frozen=True, slots=True)
class Done:
    """A command's receipt, and what its transaction did (None for a repeated request)."""

    receipt: Receipt
    outcome: Outcome | None = None


def thread_command(
    key: ThreadKey, command: ClientCommand, terms: Terms, base: AgentState | None = None, ahead: Ahead | None = None
) -> Script[Done]:
    """Carry out a client's command on a thread; `base` is a state of it that the caller knows already.

    `ahead`: what a rewind is to go on with.

    Raises:
        Undo: the command is rejected and nothing at all is to be written.
        Outdated: what it is to go on with is to be read first.
    """
    locked = yield from lock_for(key, command)
    if locked.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    return (yield from carry_out(locked, command, terms, base, ahead))


def thread_commands(
    key: ThreadKey, commands: Sequence[ClientCommand], terms: Terms, moot: Collection[str]
) -> Script[tuple[Receipt, ...]]:
    """Carry out commands on a thread, one after the other: all of them, but for those rejected with a `moot` code.

    Raises:
        Undo: one is rejected for another reason, so none of them happens.
    """
    receipts: list[Receipt] = []
    for command in commands:
        try:
            receipt = (yield from thread_command(key, command, terms)).receipt
        except Undo as undone:
            receipt = undone.receipt
        if receipt.status == "rejected" and receipt.code not in moot:
            raise Undo(receipt)
        receipts.append(receipt)
    return tuple(receipts)


def carry_out(
    locked: Locked, command: ClientCommand, terms: Terms, base: AgentState | None = None, ahead: Ahead | None = None
) -> Script[Done]:
    """Carry out a client's command on a thread that is locked, of a session that was not deleted.

    Raises:
        Undo: the command is rejected and nothing at all is to be written.
        Outdated: what it is to go on with is to be read first.
    """
    known = yield from remembered(locked.row.id, command)
    if known is not None:
        return Done(known)
    outcome = yield from run_thread(locked, with_all_bounds(command, locked.row.control), terms, base, ahead)
    if outcome.rejection is not None:
        receipt = rejected(command, outcome.rejection, _revision(command, outcome))
        if not outcome.entries:
            raise Undo(receipt)
        return Done(receipt, outcome)
    receipt = Receipt(
        request_id=command.request_id,
        status="accepted",
        turn_id=getattr(command, "turn_id", None),
        revision=_revision(command, outcome),
        seq=outcome.control.seq,
    )
    ticked = next((one.payload for one in outcome.entries if isinstance(one.payload, ScheduleTicked)), None)
    if ticked is not None and ticked.code is not None:
        receipt = replace(receipt, code=ticked.code, reason=ticked.reason, turn_id=None)
    yield from remember(locked.row.id, command, receipt)
    return Done(receipt, outcome)


def admitted(key: ThreadKey, command: ClientCommand, found: Locked | None) -> Script[Locked | Done]:
    """The locked thread, for a command that needs one which is there; or the first receipt, if its request is known.

    Raises:
        Undo: there is no such thread, or its session was deleted.
    """
    if found is None:
        raise Undo(rejected(command, Rejection("unknown_thread", f"there is no thread {key.canonical}")))
    if found.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    known = yield from remembered(found.row.id, command)
    return found if known is None else Done(known)


def trigger_command(key: SessionKey, command: TriggerSchedule, terms: Terms) -> Script[Done]:
    """Carry out the tick of a schedule that somebody asks for by hand, on its thread.

    Raises:
        Undo: there is no such schedule, and nothing is written.
    """
    found = yield from triggered(key, command)
    if isinstance(found, Rejection):
        raise Undo(rejected(command, found))
    if isinstance(found, Receipt):
        return Done(found)
    return (yield from thread_command(*found, terms))


def session_command(key: SessionKey, command: LoggedCommand) -> Script[Done]:
    """Carry out a command on a session, in the session's own log.

    Raises:
        Undo: the command is rejected.
    """
    thread = yield from lock_made_of(key, command)
    row, session = yield from _locked_log(key, command)
    known = yield from remembered(row.id, command)
    if known is not None:
        return Done(known)
    if isinstance(command, CreateSession) and session.control.created and (yield from _begun_so(key, command)):
        revision = session.control.pause.revision
        return Done(Receipt(command.request_id, "accepted", revision=revision, seq=FIRST_SEQ, duplicate=True))
    erased = thread is not None and (yield from was_erased(thread, row, command))
    decision = decide_session(session.control, with_all_bounds(command, session.control), was_erased=erased)
    if isinstance(decision, Rejection):
        raise Undo(rejected(command, decision, session.control.pause.revision))
    now_us, control = (yield from clock()), session.control
    for n, draft in enumerate(decision, start=1):
        control = evolve_session(control, draft.at(row.seq + n, now_us))
    entries = yield from append_drafts(
        row, decision, row.control.model_copy(update={"seq": control.seq}), now_us, runnable=False
    )
    yield from write_session(session.id, control, entries[-1].at_us)
    yield from project_schedules(session.id, control, entries)
    if isinstance(command, SetSessionBudget):
        yield from follow_budget(session.id, session.control, control)
        for waits in ("wake_budget_waits", "wake_reserved_waits"):
            yield from first(waits, session.id, now_us)
    receipt = Receipt(command.request_id, "accepted", revision=control.pause.revision, seq=control.seq)
    yield from remember(row.id, command, receipt)
    return Done(receipt)


def _begun_so(key: SessionKey, command: CreateSession) -> Script[bool]:
    """Whether the session was begun with just this title and metadata; if that was erased, nobody knows."""
    entries = yield from read_thread(key.log, FIRST_SEQ - 1, 1)
    begun = entries[0].payload if entries else None
    return isinstance(begun, SessionCreated) and _what(begun) == _what(storable(command))


def _what(begun: SessionCreated | CreateSession) -> str:
    return digest_of({"title": begun.title, "metadata": begun.metadata})


def lock_for(key: ThreadKey, command: ClientCommand) -> Script[Locked]:
    """The thread, locked for a client's command; made first, if the command may open it.

    Raises:
        Undo: there is no such session or thread.
    """
    locked = yield from lock_in_session(key)
    if locked is not None:
        return locked
    session = yield from find_session(key.session_key)
    if session is None or session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    if not isinstance(command, OPENING):
        raise Undo(rejected(command, Rejection("unknown_thread", "there is no such thread; submit a turn to it")))
    yield from create_thread(key, session.id, (yield from clock()))
    locked = yield from lock_in_session(key)
    if locked is None:
        raise StoreCorrupt("a thread vanished while it was being made", key.canonical)
    return locked


def _locked_log(key: SessionKey, command: LoggedCommand) -> Script[tuple[ThreadRow, SessionRow]]:
    row = yield from lock_thread(key.log)
    if row is None:
        if not isinstance(command, CreateSession):
            raise Undo(rejected(command, UNKNOWN_SESSION))
        row = yield from _create_session(key)
    session = yield from lock_session(key)
    if session is None or session.deleted:
        raise Undo(rejected(command, (yield from gone(row.session_id))))
    return row, session


def _create_session(key: SessionKey) -> Script[ThreadRow]:
    now_us, control = (yield from clock()), dump(SessionControl())
    made = yield from first(
        "insert_session", key.canonical, key.tenant, key.user, key.session, control, REDUCER_VERSION, now_us
    )
    if made is not None:
        yield from first("insert_counter", made[0])
    session = yield from find_session(key)
    assert session is not None
    yield from create_thread(key.log, session.id, now_us)
    row = yield from lock_thread(key.log)
    if row is None:
        raise StoreCorrupt("a session's log vanished while it was being made", key.canonical)
    return row


def _revision(command: ClientCommand, outcome: Outcome) -> int:
    """The revision of what the command was about, after it."""
    if isinstance(command, TurnCommand | Submit):
        active = outcome.control.turn(command.turn_id)
        if active is not None:
            return active.status.revision
        status = outcome.turns.get(command.turn_id)
        return 0 if status is None else status.revision
    return outcome.control.pause.revision
