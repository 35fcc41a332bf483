"""What commands to a thread as a whole record: submit, inject, pause, resume, cancel, close."""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.closing import forsake_failed
from turnwright.journal.commands import (
    CancelThread,
    ClientCommand,
    CloseThread,
    Inject,
    PauseThread,
    Rejection,
    ResumeThread,
    Submit,
)
from turnwright.journal.decide.context import Context, Decision, recorded
from turnwright.journal.entries import (
    Draft,
    InputInjected,
    ThreadClosed,
    ThreadPaused,
    ThreadResumed,
    TurnCancelRequested,
    TurnQueued,
)
from turnwright.journal.entries.turn import CancelSource
from turnwright.journal.lineage import Parent
from turnwright.journal.settle import cancel_queued
from turnwright.journal.turn_status import status_draft

QUEUE_TURNS_MAX = 1_000
INJECTED_MAX = 1_000


def submit(context: Context, command: Submit, parent: Parent | None = None) -> Decision:
    """Queue a turn; `if_busy` says what a thread that has work does with it."""
    control = context.control
    refused = closed(context)
    if refused is not None:
        return refused
    if control.queued >= QUEUE_TURNS_MAX:
        return Rejection("queue_full", f"{QUEUE_TURNS_MAX} turns are queued; wait or cancel some")
    if command.if_busy == "reject" and (control.active is not None or control.queued):
        return Rejection("busy", "the thread has a turn that is active, queued or held")
    drafts = _interrupt(context, command) if command.if_busy == "interrupt" else []
    payload = TurnQueued(
        request_id=command.request_id,
        input=command.input,
        place="head" if command.if_busy == "interrupt" else "tail",
        session_seq=context.session.seq,
        on_failure=command.on_failure,
        budget=command.budget,
        parent=parent,
        principal=command.principal,
        reason=command.reason,
    )
    queued = Draft(entry_ids.command(command.request_id, 0), payload, turn_id=command.turn_id)
    return [*drafts, queued]


def inject(context: Context, command: Inject) -> Decision:
    """Material for whatever runs next."""
    refused = closed(context)
    if refused is not None:
        return refused
    if context.control.injected >= INJECTED_MAX:
        return Rejection("too_much_injected", f"{INJECTED_MAX} injected messages wait for a turn already")
    payload = InputInjected(message=command.message, principal=command.principal, reason=command.reason)
    return recorded(command, payload)


def pause_thread(context: Context, command: PauseThread) -> Decision:
    """Set the thread's flag."""
    flag = context.control.pause
    if flag.on:
        return Rejection("already_paused", f"the thread is paused already (by {flag.source})")
    payload = ThreadPaused(revision=flag.revision + 1, principal=command.principal, reason=command.reason)
    return recorded(command, payload)


def resume_thread(context: Context, command: ResumeThread) -> Decision:
    """Lift the thread's flag, whoever set it."""
    flag = context.control.pause
    if not flag.on:
        return Rejection("not_paused", "the thread itself is not paused")
    if command.revision != flag.revision:
        return Rejection("stale_revision", f"the flag is at revision {flag.revision}, not {command.revision}")
    payload = ThreadResumed(revision=flag.revision + 1, principal=command.principal, reason=command.reason)
    return recorded(command, payload)


def cancel_thread(context: Context, command: CancelThread) -> Decision:
    """Cancel the active turn and the queue."""
    if context.control.active is None and not context.control.queued:
        return Rejection("nothing_to_cancel", "no turn of the thread is active or queued")
    drafts = _cancel_active(context, "thread", command)
    return drafts + _cancel_queue(context, "thread", command)


def close_thread(context: Context, command: CloseThread) -> Decision:
    """Take no new turn; with `mode="cancel"` stop what there is."""
    if context.control.closed:
        return Rejection("closed", "the thread is closed already")
    payload = ThreadClosed(mode=command.mode, principal=command.principal, reason=command.reason)
    drafts = [*recorded(command, payload), *forsake_failed(context.control, "the thread was closed")]
    if command.mode == "cancel":
        drafts += _cancel_active(context, "close", command) + _cancel_queue(context, "close", command)
    return drafts


def closed(context: Context) -> Rejection | None:
    """Why nothing new comes to the thread, if that is so."""
    if context.session.closed:
        return Rejection("session_closed", "the session is closed")
    return Rejection("thread_closed", "the thread is closed") if context.control.closed else None


def _interrupt(context: Context, command: Submit) -> list[Draft]:
    return _cancel_active(context, "interrupt", command)


def _cancel_active(context: Context, source: CancelSource, command: ClientCommand) -> list[Draft]:
    active = context.control.active
    if active is None or active.status.phase == "cancelling":
        return []
    payload = TurnCancelRequested(
        source=source,
        revision=active.status.revision + 1,
        principal=command.principal,
        reason=command.reason,
    )
    return [status_draft(active.turn_id, payload)]


def _cancel_queue(context: Context, source: CancelSource, command: ClientCommand) -> list[Draft]:
    drafts: list[Draft] = []
    for turn in context.facts.queue:
        if turn.phase == "queued":
            drafts += cancel_queued(turn, context.control.seq, source, command.principal, command.reason)
    return drafts
