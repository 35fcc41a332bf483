"""What becomes of a task that was enlisted in its caller's transaction, once that is committed.

Rule: the caller has its turn id and can be told nothing more, so what would reject a submit fails the turn: it is in
the journal, and whoever waits for it learns the code.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.closing import discard_inputs
from turnwright.journal.commands import Rejection, TakeIn
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.decide.thread_rules import submit
from turnwright.journal.entries import Draft, TurnFailed, TurnQueued
from turnwright.journal.turn_status import status_draft

FIRST_REVISION = 1


def take_in(context: Context, command: TakeIn) -> Decision:
    """Queue the turn, or record that it could not be."""
    decision = submit(context, command, command.parent)
    return _failed(context, command, decision) if isinstance(decision, Rejection) else decision


def _failed(context: Context, command: TakeIn, against: Rejection) -> list[Draft]:
    """The turn begins and ends at once; the thread and what it holds stay as they are."""
    queued = TurnQueued(
        request_id=command.request_id,
        input=command.input,
        session_seq=context.session.seq,
        budget=command.budget,
        parent=command.parent,
        principal=command.principal,
        reason=command.reason,
    )
    failed = TurnFailed(code=against.code, message=against.reason, retryable=False, revision=FIRST_REVISION + 1)
    return [
        Draft(entry_ids.command(command.request_id, 0), queued, turn_id=command.turn_id),
        status_draft(command.turn_id, failed),
        discard_inputs(command.turn_id, context.control.seq + 1, f"it was not queued: {against.code}"),
    ]
