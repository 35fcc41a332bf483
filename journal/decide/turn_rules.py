"""What each turn command records. Which of these applies when: `decide.table`."""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.commands import (
    CancelTurn,
    PauseTurn,
    Reconcile,
    Rejection,
    ResumeTurn,
    RetryTurn,
    Steer,
)
from turnwright.journal.decide.answers import numbered, too_late
from turnwright.journal.decide.context import Context, Decision, who_asked, without_reason
from turnwright.journal.entries import (
    Draft,
    InputSteered,
    InteractionResolved,
    Payload,
    ThreadResumed,
    ToolReconciled,
    TurnCancelRequested,
    TurnPaused,
    TurnPauseRequested,
    TurnResumed,
    TurnRetried,
)
from turnwright.journal.settle import cancel_queued
from turnwright.journal.turn_status import TurnStatus, status_draft


def steer(_: Context, status: TurnStatus, command: Steer) -> Decision:
    """The message joins the turn's input; a running turn sees it with its next model call."""
    payload = InputSteered(message=command.message, principal=command.principal, reason=command.reason)
    return [Draft(entry_ids.command(command.request_id, 0), payload, turn_id=status.turn_id)]


def pause_at_once(_: Context, status: TurnStatus, command: PauseTurn) -> Decision:
    """No operation runs, so the pause takes effect now."""
    if status.held:
        return Rejection("already_paused", f"the turn's pause is {status.pause} already")
    payload = TurnPaused(revision=status.revision + 1, principal=command.principal, reason=command.reason)
    return [status_draft(status.turn_id, payload)]


def request_pause(_: Context, status: TurnStatus, command: PauseTurn) -> Decision:
    """The pause takes effect when the running operations ended."""
    if status.held:
        return Rejection("already_paused", f"the turn's pause is {status.pause} already")
    payload = TurnPauseRequested(revision=status.revision + 1, principal=command.principal, reason=command.reason)
    return [status_draft(status.turn_id, payload)]


def resume(_: Context, status: TurnStatus, command: ResumeTurn) -> Decision:
    """The turn's own pause ends; other levels' flags keep holding it."""
    if not status.held:
        return Rejection("not_paused", "the turn itself is not paused (its thread or session may be)")
    if command.revision != status.revision:
        return Rejection("stale_revision", f"the turn is at revision {status.revision}, not {command.revision}")
    payload = TurnResumed(revision=status.revision + 1, principal=command.principal, reason=command.reason)
    return [status_draft(status.turn_id, payload)]


def cancel_queued_turn(context: Context, status: TurnStatus, command: CancelTurn) -> Decision:
    """A turn that has not started is cancelled at once."""
    return list(cancel_queued(status, context.control.seq, "turn", command.principal, command.reason))


def request_cancel(_: Context, status: TurnStatus, command: CancelTurn) -> Decision:
    """Nothing starts any more; `advance` cancels at once when nothing runs."""
    payload = TurnCancelRequested(revision=status.revision + 1, principal=command.principal, reason=command.reason)
    return [status_draft(status.turn_id, payload)]


def accept_without_effect(_: Context, __: TurnStatus, ___: CancelTurn) -> Decision:
    """The turn is being cancelled already."""
    return []


def retry(context: Context, status: TurnStatus, command: RetryTurn) -> Decision:
    """A failed turn is the head again, unless a later one has started."""
    control = context.control
    if status.started_at_us is None:
        return Rejection("never_started", "the turn could not be queued and never started; submit the task anew")
    if control.active is not None or control.failed is None or control.failed.turn_id != status.turn_id:
        since = "a later turn has started since, or the context was cleared"
        return Rejection("later_turn_started", f"{since}; submit the task anew")
    if control.closed or context.session.closed:
        return Rejection("closed", "the thread or its session is closed")
    who = who_asked(command)
    retried = TurnRetried(revision=status.revision + 1, session_seq=context.session.seq, **who)
    drafts = [status_draft(status.turn_id, retried)]
    if control.pause.on and control.pause.source == "on_failure":
        lifted = ThreadResumed(revision=control.pause.revision + 1, **who)
        drafts.append(Draft(entry_ids.command(command.request_id, 1), lifted))
    return drafts


def reconciled_already(context: Context, command: Reconcile) -> Rejection | None:
    """Who said before what became of the call; None: nobody was asked, or has said it."""
    settled = too_late(context)
    return None if settled is None else Rejection("not_unknown", f"{_not_in_question(command)}: {settled.reason}")


def _not_in_question(command: Reconcile) -> str:
    return f"the outcome of call {command.call_id} is not in question"


def reconcile(context: Context, status: TurnStatus, command: Reconcile) -> Decision:
    """A person says what became of a call; its question is answered with it."""
    active = context.control.turn(status.turn_id)
    call = None if active is None else active.call(command.call_id)
    if active is None or call is None or call.state != "unknown":
        return reconciled_already(context, command) or Rejection("not_unknown", _not_in_question(command))
    unreasoned = without_reason(command, "say how you know what became of the call")
    if unreasoned is not None:
        return unreasoned
    drafts: list[Payload] = [
        ToolReconciled(
            call_id=call.call_id,
            name=call.name,
            outcome=command.outcome,
            output=command.output,
            principal=command.principal,
            reason=command.reason,
        )
    ]
    question = active.asked_about(call.call_id)
    if question is not None:
        resolved = InteractionResolved(
            interaction_id=question.interaction_id,
            resolution=command.outcome,
            principal=command.principal,
            reason=command.reason,
        )
        drafts.append(resolved)
    return numbered(command.request_id, status.turn_id, active.step, drafts)
