"""`settle`: what became due by itself, appended before any command in the same transaction.

Rule: time and death are facts like others. They are recorded first, so a late answer finds its
question closed, and no command ever decides about an attempt that is known to be dead.
"""

from __future__ import annotations

from typing import Literal

from turnwright.journal import entry_ids
from turnwright.journal.closing import discard_inputs, forsake_failed
from turnwright.journal.control import (
    ActiveTurn,
    CallOperation,
    Claim,
    OpenInteraction,
    SessionControl,
    ThreadControl,
)
from turnwright.journal.entries import (
    Draft,
    InteractionExpired,
    InteractionResolved,
    ModelInterrupted,
    Payload,
    ToolDecided,
    ToolFinished,
    TurnCancelled,
    TurnCancelRequested,
)
from turnwright.journal.entries.turn import CancelSource
from turnwright.journal.facts import Facts
from turnwright.journal.messages import Text
from turnwright.journal.spending import budgets, spent, still_over
from turnwright.journal.turn_status import TurnStatus, status_draft

NOBODY_ANSWERED_TEXT = "Nobody answered in time, so this call was not run."
NO_ANSWER_TEXT = "No answer came in time."


def settle(control: ThreadControl, session: SessionControl, facts: Facts) -> list[Draft]:
    """The entries that are due before anything else is decided."""
    drafts: list[Draft] = []
    active = control.active
    if active is not None:
        drafts += _expired(active, facts)
        drafts += given_room(control, session, facts)
        drafts += _given_up(active, facts)
        drafts += _cancelled_by_session(active, session)
    for turn in _at_risk(facts):
        if turn.phase == "queued" and turn.session_seq < session.cancelled_seq:
            drafts += cancel_queued(turn, control.seq, "session", session.cancelled_by, session.cancel_reason)
    if control.closed or session.closed:
        drafts += forsake_failed(control, "closed")
    return drafts


def _at_risk(facts: Facts) -> list[TurnStatus]:
    """The front and the queue, each turn once: a cancelled front must never be started."""
    turns = {turn.turn_id: turn for turn in facts.queue}
    if facts.front is not None:
        turns.setdefault(facts.front.turn_id, facts.front)
    return list(turns.values())


def is_given_up(claim: Claim, facts: Facts, *, once: bool) -> bool:
    """Whether an attempt counts as lost: dead for certain, or silent for its lease (and grace, if once)."""
    return claim.presence in facts.dead or claim.presence in (facts.expired if once else facts.lapsed)


def cancel_queued(turn: TurnStatus, seq: int, source: CancelSource, principal: str, reason: str | None) -> list[Draft]:
    """The entries that cancel a turn which has not started."""
    payload = TurnCancelled(source=source, principal=principal, reason=reason, revision=turn.revision + 1)
    return [
        status_draft(turn.turn_id, payload),
        discard_inputs(turn.turn_id, seq, f"cancelled by {source}"),
    ]


def _expired(active: ActiveTurn, facts: Facts) -> list[Draft]:
    due = [q for q in active.interactions if q.deadline_us is not None and q.deadline_us <= facts.now_us]
    drafts: list[Draft] = []
    for question in due:
        resolution = question.on_expiry or ("fail" if question.kind == "budget" else "expired")
        entry_id = f"{question.interaction_id}/expired"
        payload = InteractionExpired(interaction_id=question.interaction_id, resolution=resolution)
        drafts.append(Draft(entry_id, payload, turn_id=active.turn_id, step=active.step))
        for n, fact in enumerate(_meaning_of_expiry(active, question, resolution)):
            drafts.append(Draft(entry_ids.caused(entry_id, n), fact, turn_id=active.turn_id, step=active.step))
    return drafts


def given_room(control: ThreadControl, session: SessionControl, facts: Facts) -> list[Draft]:
    """The answers to questions about a budget that somebody has raised or lifted."""
    known = dict(budgets(control, session, facts))
    active = control.active
    if active is None:
        return []
    drafts: list[Draft] = []
    for question in active.interactions:
        scope = question.scope or "turn"
        unknown = scope == "session" and session.budget is not None and facts.elsewhere is None
        due = question.deadline_us is not None and question.deadline_us <= facts.now_us
        if question.kind != "budget" or unknown or due:
            continue
        if scope not in known or not still_over(question, known[scope], spent(control, facts, scope)):
            payload = InteractionResolved(interaction_id=question.interaction_id, resolution="raised")
            drafts.append(Draft(f"{question.interaction_id}/raised", payload, turn_id=active.turn_id))
    return drafts


def _meaning_of_expiry(active: ActiveTurn, question: OpenInteraction, resolution: str) -> list[Payload]:
    """What becomes of the call that waited: it gets its answer, and nobody is said to have denied it."""
    call = active.call(question.call_id or "")
    if call is None:
        return []
    if question.kind == "approval" and resolution == "approve":
        return [
            ToolDecided(
                call_id=call.call_id,
                name=call.name,
                decision="allow",
                source="deadline",
                effect=call.effect,
                arguments_digest=call.digest,
                reconcilable=call.reconcilable,
            )
        ]
    if question.kind == "unknown_outcome":
        return [_ended(call, "unknown", (), unsure=True)]
    text = NOBODY_ANSWERED_TEXT if question.kind == "approval" else NO_ANSWER_TEXT
    return [_ended(call, "error", (Text(text=text),))]


def _ended(
    call: CallOperation, outcome: Literal["error", "unknown"], output: tuple[Text, ...], *, unsure: bool = False
) -> ToolFinished:
    return ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=call.ordinal,
        outcome=outcome,
        output=output,
        effect_unknown=unsure,
    )


def _given_up(active: ActiveTurn, facts: Facts) -> list[Draft]:
    drafts = [
        _lost_call(active, call)
        for call in active.calls
        if call.claim is not None and is_given_up(call.claim, facts, once=call.effect == "once")
    ]
    model = active.model
    if model is not None and model.claim is not None and is_given_up(model.claim, facts, once=False):
        entry_id = entry_ids.model(active.turn_id, model.step, model.ordinal, "lost")
        payload = ModelInterrupted(ordinal=model.ordinal, reason="lost")
        drafts.append(Draft(entry_id, payload, turn_id=active.turn_id, step=model.step))
    return drafts


def _lost_call(active: ActiveTurn, call: CallOperation) -> Draft:
    payload = ToolFinished(call_id=call.call_id, name=call.name, ordinal=call.ordinal, outcome="lost")
    entry_id = entry_ids.tool(active.turn_id, active.step, call.call_id, call.ordinal, "lost")
    return Draft(entry_id, payload, turn_id=active.turn_id, step=active.step)


def _cancelled_by_session(active: ActiveTurn, session: SessionControl) -> list[Draft]:
    status = active.status
    if status.phase == "cancelling" or status.session_seq >= session.cancelled_seq:
        return []
    payload = TurnCancelRequested(
        source="session",
        principal=session.cancelled_by,
        reason=session.cancel_reason,
        revision=status.revision + 1,
    )
    return [status_draft(active.turn_id, payload)]
