"""What an ending turn leaves behind: every call gets a result, every question an answer.

Rule: after a turn ended nothing of it is open, whatever ended it, so the next turn's request is valid.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.control import ActiveTurn, CallOperation
from turnwright.journal.entries import (
    Draft,
    InputDiscarded,
    InteractionResolved,
    ModelInterrupted,
    ToolFinished,
)


def close_open_ends(active: ActiveTurn, seq: int, why: str) -> list[Draft]:
    """The entries that close all of the turn's operations, questions and unseen inputs.

    Args:
        active: the turn.
        seq: the thread's last entry, up to which pending inputs are discarded.
        why: what ends the turn, for the records.
    """
    turn_id = active.turn_id
    drafts = [_close_call(active, call) for call in active.calls if call.state != "closed"]
    model = active.model
    if model is not None and model.claim is not None:
        entry_id = entry_ids.model(turn_id, model.step, model.ordinal, "interrupted")
        payload = ModelInterrupted(ordinal=model.ordinal, reason="lost")
        drafts.append(Draft(entry_id, payload, turn_id=turn_id, step=model.step))
    for question in active.interactions:
        resolved = InteractionResolved(interaction_id=question.interaction_id, resolution="cancelled", reason=why)
        drafts.append(Draft(f"{question.interaction_id}/closed", resolved, turn_id=turn_id))
    if active.inputs:
        drafts.append(discard_inputs(turn_id, seq, why))
    return drafts


def discard_inputs(turn_id: str, seq: int, why: str) -> Draft:
    """What is pending for a turn will not be seen by a model."""
    return Draft(f"in:{turn_id}/{seq}/discarded", InputDiscarded(through_seq=seq, why=why), turn_id=turn_id)


def _close_call(active: ActiveTurn, call: CallOperation) -> Draft:
    unsure = call.effect == "once" and call.state in ("running", "unknown")
    finished = ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=call.ordinal,
        outcome="unknown" if unsure else "interrupted",
        effect_unknown=unsure,
    )
    entry_id = entry_ids.tool(active.turn_id, active.step, call.call_id, call.ordinal, "closed")
    return Draft(entry_id, finished, turn_id=active.turn_id, step=active.step)
