"""What an ending turn leaves behind: every call gets a result, every question an answer.

Rule: after a turn ended nothing of it is open, whatever ended it, so the next turn's request is valid. Only
what a failed turn was given and no model was sent waits on, because a retry needs it.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.control import ActiveTurn, CallOperation, ThreadControl
from turnwright.journal.entries import (
    Draft,
    InputDiscarded,
    InteractionResolved,
    ToolFinished,
)


def close_open_ends(active: ActiveTurn, why: str) -> list[Draft]:
    """The entries that close all of the turn's calls and questions; none of its operations runs any more.

    Args:
        active: the turn.
        why: what ends the turn, for the records.
    """
    drafts = [_close_call(active, call) for call in active.calls if call.state != "closed"]
    for question in active.interactions:
        resolved = InteractionResolved(
            interaction_id=question.interaction_id, resolution="cancelled", principal=active.cancelled_by, reason=why
        )
        drafts.append(Draft(f"{question.interaction_id}/closed", resolved, turn_id=active.turn_id))
    return drafts


def forsake_failed(control: ThreadControl, why: str) -> list[Draft]:
    """Discard what a failed turn still has pending, now that it can be retried no more."""
    if control.failed is None or not control.failed_inputs:
        return []
    return [discard_inputs(control.failed.turn_id, control.seq, why)]


def discard_inputs(turn_id: str, seq: int, why: str) -> Draft:
    """What is pending for a turn will not be seen by a model."""
    return Draft(f"in:{turn_id}/{seq}/discarded", InputDiscarded(through_seq=seq, why=why), turn_id=turn_id)


def _close_call(active: ActiveTurn, call: CallOperation) -> Draft:
    unknown = call.state == "unknown"
    finished = ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=call.ordinal,
        outcome="unknown" if unknown else "interrupted",
        effect_unknown=unknown or (call.effect == "idempotent" and call.ordinal > 0 and call.state != "deferred"),
    )
    entry_id = entry_ids.tool(active.turn_id, active.step, call.call_id, call.ordinal, "closed")
    return Draft(entry_id, finished, turn_id=active.turn_id, step=active.step)


def effects_unknown(active: ActiveTurn, closing: list[Draft]) -> str | None:
    """What to tell a person about calls that may have had their effect without anybody knowing; None: nothing."""
    given_up = [call.name for call in active.calls if call.unsure]
    closed = [d.payload.name for d in closing if isinstance(d.payload, ToolFinished) and d.payload.effect_unknown]
    names = ", ".join(sorted({*given_up, *closed}))
    return f"whether it had its effect is unknown of: {names}" if names else None
