"""`advance`: append every status fact that `plan` finds due, until it finds something to do.

Rule: nothing terminal is decided outside the lock. Completion, failure and waiting need the authority
of the newest run; a pause or cancel taking effect, and a turn going on after its last question, do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal import entry_ids
from turnwright.journal.actions import Action, OverBudget, Record, Work
from turnwright.journal.closing import close_open_ends, discard_inputs, effects_unknown
from turnwright.journal.control import ActiveTurn, SessionControl, ThreadControl
from turnwright.journal.entries import (
    Draft,
    InteractionRequested,
    Payload,
    ThreadPaused,
    TurnCancelled,
    TurnCompleted,
    TurnContinued,
    TurnFailed,
    TurnPaused,
    TurnWaiting,
)
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.facts import Facts
from turnwright.journal.plan import plan
from turnwright.journal.turn_status import status_draft

WITHOUT_A_RUN = frozenset({"paused", "cancelled", "continued"})


@dataclass(frozen=True, slots=True)
class Advanced:
    """The drafts that became due, the control after them, and what is next."""

    drafts: tuple[Draft, ...]
    control: ThreadControl
    action: Action


def fold_drafts(control: ThreadControl, drafts: list[Draft], now_us: int) -> ThreadControl:
    """The control as it will be once these drafts are committed next."""
    for draft in drafts:
        control = evolve_control(control, draft.at(control.seq + 1, now_us))
    return control


def advance(
    control: ThreadControl, session: SessionControl, facts: Facts, turn_id: str, *, authority: bool
) -> Advanced:
    """Follow `plan` through the status facts that are due.

    Args:
        control: the thread's control with every earlier draft of the transaction folded in.
        session: the session's control.
        facts: what the shell knows.
        turn_id: whose turn it is about.
        authority: whether the newest run asks (its epoch is the control's).
    """
    drafts: list[Draft] = []
    while True:
        action = plan(control, session, facts, turn_id)
        active = control.turn(turn_id)
        if not isinstance(action, Record) or active is None:
            return Advanced(tuple(drafts), control, action)
        if not authority and action.fact not in WITHOUT_A_RUN:
            return Advanced(tuple(drafts), control, Work())
        due = _drafts_of(action, control, active)
        drafts += due
        control = fold_drafts(control, due, facts.now_us)


def _drafts_of(action: Record, control: ThreadControl, active: ActiveTurn) -> list[Draft]:
    revision = active.status.revision + 1
    match action.fact:
        case "paused":
            return [_status(active, TurnPaused(revision=revision))]
        case "continued":
            return [_status(active, TurnContinued(revision=revision))]
        case "waiting":
            asked = tuple(question.interaction_id for question in active.interactions)
            return [_status(active, TurnWaiting(interactions=asked, revision=revision))]
        case "asked":
            return _questions(active)
        case "completed":
            payload = TurnCompleted(output_message=active.answer, revision=revision)
            return [_status(active, payload)]
        case "cancelled":
            return _cancelled(control, active, revision)
        case "failed":
            return _failed(action, control, active, revision)
        case "over_budget":
            assert action.over is not None, "it says which"
            return [_budget_question(active, action.over)]


def _status(active: ActiveTurn, payload: Payload) -> Draft:
    """A status entry that also says how many steps the turn has begun, so that a retry goes on counting."""
    return status_draft(active.turn_id, payload, step=active.step)


def _questions(active: ActiveTurn) -> list[Draft]:
    lost = [c for c in active.calls if c.state == "unknown" and active.asked_about(c.call_id) is None]
    return [unknown_outcome(active, c.call_id) for c in lost if not c.reconcilable]


def _budget_question(active: ActiveTurn, over: OverBudget) -> Draft:
    """The question whether a used-up budget is raised."""
    interaction_id = entry_ids.budget(active.turn_id, active.status.revision)
    asked = {
        "scope": over.scope,
        "over": list(over.over),
        "budget": over.budget.model_dump(exclude_none=True),
        "used": over.used.model_dump(),
    }
    payload = InteractionRequested(
        interaction_id=interaction_id, kind="budget", asked=asked, parent=active.status.parent
    )
    return Draft(f"{interaction_id}/asked", payload, turn_id=active.turn_id, step=active.step)


def unknown_outcome(active: ActiveTurn, call_id: str, message: str = "") -> Draft:
    """The question what became of a call that started and has no result; `message`: what its hook said to that."""
    call = active.call(call_id)
    assert call is not None
    interaction_id = entry_ids.interaction(call_id, call.ordinal)
    payload = InteractionRequested(
        interaction_id=interaction_id,
        kind="unknown_outcome",
        call_id=call_id,
        arguments_digest=call.digest,
        asked={
            "tool": call.name,
            "call_id": call_id,
            "ordinal": call.ordinal,
            **({"message": message} if message else {}),
        },
        parent=active.status.parent,
    )
    return Draft(f"{interaction_id}/asked", payload, turn_id=active.turn_id, step=active.step)


def _cancelled(control: ThreadControl, active: ActiveTurn, revision: int) -> list[Draft]:
    source = active.cancel or "turn"
    drafts = close_open_ends(active, f"cancelled by {source}")
    if active.inputs:
        drafts.append(discard_inputs(active.turn_id, control.seq, f"cancelled by {source}"))
    payload = TurnCancelled(
        source=source,
        principal=active.cancelled_by,
        reason=active.cancel_reason,
        effects_unknown=effects_unknown(active, drafts),
        revision=revision,
    )
    return [*drafts, _status(active, payload)]


def _failed(action: Record, control: ThreadControl, active: ActiveTurn, revision: int) -> list[Draft]:
    drafts = close_open_ends(active, f"failed: {action.code}")
    unsure = effects_unknown(active, drafts)
    payload = TurnFailed(
        code=action.code,
        message=action.message if unsure is None else f"{action.message}; {unsure}",
        retryable=action.retryable,
        revision=revision,
    )
    failed = _status(active, payload)
    if control.on_failure == "hold" and not control.pause.on:
        hold = ThreadPaused(revision=control.pause.revision + 1, source="on_failure", reason=action.code)
        return [*drafts, failed, Draft(entry_ids.caused(failed.entry_id, 0), hold)]
    return [*drafts, failed]
