"""What commands to a session record, in the session's own log."""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.commands import (
    CancelSession,
    CloseSession,
    CreateSchedule,
    CreateSession,
    DeleteSchedule,
    DescribeSession,
    LoggedCommand,
    PauseSchedule,
    PauseSession,
    Rejection,
    ResumeSchedule,
    ResumeSession,
    SessionOwn,
    SetSessionBudget,
    SetTitle,
)
from turnwright.journal.control import SessionControl
from turnwright.journal.decide.context import UNKNOWN_SESSION, recorded, who_asked
from turnwright.journal.decide.schedules import decide_schedule
from turnwright.journal.edge import storable
from turnwright.journal.entries import (
    Draft,
    Payload,
    SessionBudgetChanged,
    SessionCancelled,
    SessionClosed,
    SessionCreated,
    SessionNotDescribed,
    SessionPaused,
    SessionResumed,
    SessionSummarised,
    SessionTitled,
)
from turnwright.journal.errors import InvalidInput

FAILED_CHARACTERS_MAX = 500
TITLE_CHARACTERS_MAX = 500
ERASED_MEANWHILE = Rejection("erased_meanwhile", "what it was made of was erased, in part or whole, while it was made")


def decide_session(
    control: SessionControl, command: LoggedCommand, *, was_erased: bool = False
) -> list[Draft] | Rejection:
    """May this happen to the session, and what does it record?

    `was_erased`: content that a description may hold words of went while it was made.

    Raises:
        InvalidInput: it holds what no journal can keep, or too long a title.
    """
    command = storable(command)
    if isinstance(command, SetTitle | CreateSession) and len(command.title or "") > TITLE_CHARACTERS_MAX:
        raise InvalidInput(f"a title has at most {TITLE_CHARACTERS_MAX} characters, not {len(command.title or ''):,}")
    if not isinstance(command, CreateSession) and not control.created:
        return UNKNOWN_SESSION
    match command:
        case DescribeSession():
            return ERASED_MEANWHILE if was_erased else _described(control, command)
        case SetTitle(title=title):
            outcome: Payload | Rejection = SessionTitled(
                title=title, principal=command.principal, reason=command.reason
            )
        case CreateSchedule() | PauseSchedule() | ResumeSchedule() | DeleteSchedule():
            outcome = decide_schedule(control, command)
        case _:
            outcome = _payload(control, command)
    if isinstance(outcome, Rejection):
        return outcome
    return recorded(command, outcome)


def _described(control: SessionControl, command: DescribeSession) -> list[Draft] | Rejection:
    """What was made is kept as far as nobody was faster: a title is made once, a summary of no more than the last."""
    who = who_asked(command)
    payloads: list[Payload] = []
    if command.title and control.title is None:
        payloads.append(SessionTitled(title=command.title, made_of=command.made_of, **who))
    if command.summary and command.made_of.through_seq > control.summarised_seq:
        payloads.append(SessionSummarised(summary=command.summary, made_of=command.made_of, **who))
    if command.failed and command.made_of.through_seq > max(control.summarised_seq, control.undescribed_seq):
        failed = command.failed[:FAILED_CHARACTERS_MAX]
        payloads.append(SessionNotDescribed(failed=failed, made_of=command.made_of, **who))
    if not payloads:
        return Rejection("described_already", "the session has a title, and a summary of no less")
    return [Draft(entry_ids.command(command.request_id, index), payload) for index, payload in enumerate(payloads)]


def _payload(control: SessionControl, command: SessionOwn) -> Payload | Rejection:
    who = who_asked(command)
    match command:
        case CreateSession(title=title, metadata=metadata):
            if control.created:
                return Rejection("session_exists", "the session exists already")
            return SessionCreated(title=title, metadata=metadata, **who)
        case PauseSession():
            if control.pause.on:
                return Rejection("already_paused", "the session is paused already")
            return SessionPaused(revision=control.pause.revision + 1, **who)
        case ResumeSession(revision=revision):
            refused = _cannot_resume(control, revision)
            return refused or SessionResumed(revision=control.pause.revision + 1, **who)
        case CancelSession():
            return SessionCancelled(**who)
        case SetSessionBudget(budget=budget):
            return SessionBudgetChanged(budget=budget, **who)
        case CloseSession(mode=mode):
            if control.closed:
                return Rejection("session_closed", "the session is closed already")
            return SessionClosed(mode=mode, **who)


def _cannot_resume(control: SessionControl, revision: int) -> Rejection | None:
    if not control.pause.on:
        return Rejection("not_paused", "the session itself is not paused")
    if revision != control.pause.revision:
        return Rejection("stale_revision", f"the flag is at revision {control.pause.revision}, not {revision}")
    return None
