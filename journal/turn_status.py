"""A turn's two fields, phase and pause, and how its entries change them.

Rule: phase and pause change by entries that carry the new revision, one each; everything shown to a
person is derived from them.
"""

from __future__ import annotations

from typing import Literal

from turnwright.journal.budgets import Budget
from turnwright.journal.entries import (
    Draft,
    Entry,
    TurnCancelled,
    TurnCancelRequested,
    TurnCompleted,
    TurnContinued,
    TurnFailed,
    TurnPaused,
    TurnPauseRequested,
    TurnQueued,
    TurnResumed,
    TurnRetried,
    TurnStarted,
    TurnWaiting,
)
from turnwright.journal.lineage import Parent
from turnwright.journal.messages import Frozen

Phase = Literal["queued", "running", "waiting", "cancelling", "completed", "failed", "cancelled"]
Pause = Literal["none", "requested", "effective"]
FINISHED: frozenset[Phase] = frozenset({"completed", "failed", "cancelled"})

_PHASE_AFTER: dict[type, Phase] = {
    TurnStarted: "running",
    TurnWaiting: "waiting",
    TurnContinued: "running",
    TurnCancelRequested: "cancelling",
    TurnCancelled: "cancelled",
    TurnCompleted: "completed",
    TurnFailed: "failed",
    TurnRetried: "queued",
}
_PAUSE_AFTER: dict[type, Pause] = {
    TurnPauseRequested: "requested",
    TurnPaused: "effective",
    TurnResumed: "none",
    TurnCancelRequested: "none",
    TurnCancelled: "none",
    TurnCompleted: "none",
    TurnFailed: "none",
}


CANCELLED: dict[str, str] = {
    "turn": "by a command to the turn itself",
    "thread": "with everything on its thread",
    "session": "with everything in its session",
    "interrupt": "by a turn that was submitted to come first (if_busy=interrupt)",
    "close": "with the queue of its thread, which was closed",
}
_CANCELLED_BY = "cancelled_by_"
_NO_END: dict[str, object] = {
    "ended_at_us": None,
    "code": None,
    "message": None,
    "retryable": False,
    "effects_unknown": None,
}


class TurnStatus(Frozen):
    """What the `turns` table knows of a turn; equals the fold of its entries.

    `queue_order` sorts the queue: the seq of `turn.queued`, negated for one put at the head.
    `steps` counts the model steps begun, over all starts of the turn, as its last status entry knew it.
    `effects_unknown` says of which calls of a cancelled turn nobody knows whether they had their effect. `parent`: the
    call of another turn that opened it.
    """

    turn_id: str
    request_id: str
    phase: Phase = "queued"
    pause: Pause = "none"
    revision: int = 1
    queue_order: int = 0
    queued_seq: int = 0
    session_seq: int = 0
    steps: int = 0
    budget: Budget | None = None
    parent: Parent | None = None
    queued_at_us: int = 0
    started_at_us: int | None = None
    ended_at_us: int | None = None
    code: str | None = None
    message: str | None = None
    retryable: bool = False
    output_message: str | None = None
    effects_unknown: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the turn has ended (a failed one may still be retried)."""
        return self.phase in FINISHED

    @property
    def held(self) -> bool:
        """Whether the turn's own pause flag is set."""
        return self.pause != "none"


def is_status_entry(entry: Draft) -> bool:
    """Whether the entry changes a turn's phase or pause."""
    kind = type(entry.payload)
    return kind is TurnQueued or kind in _PHASE_AFTER or kind in _PAUSE_AFTER


def begin_status(entry: Entry) -> TurnStatus | None:
    """The status of a turn at its `turn.queued`; None for any other entry."""
    payload = entry.payload
    if not isinstance(payload, TurnQueued) or entry.turn_id is None:
        return None
    return TurnStatus(
        turn_id=entry.turn_id,
        request_id=payload.request_id,
        queue_order=entry.seq if payload.place == "tail" else -entry.seq,
        queued_seq=entry.seq,
        session_seq=payload.session_seq,
        budget=payload.budget,
        parent=payload.parent,
        queued_at_us=entry.at_us,
    )


def evolve_status(status: TurnStatus, entry: Entry) -> TurnStatus:
    """The status after an entry of the same turn; other entries change nothing but the step count."""
    payload = entry.payload
    kind = type(payload)
    changes: dict[str, object] = {}
    if kind in _PHASE_AFTER:
        changes["phase"] = _PHASE_AFTER[kind]
    if kind in _PAUSE_AFTER:
        changes["pause"] = _PAUSE_AFTER[kind]
    revision = getattr(payload, "revision", None)
    if changes and revision is not None:
        changes["revision"] = revision
    if changes and entry.step is not None:
        changes["steps"] = max(status.steps, entry.step)
    match payload:
        case TurnStarted():
            changes |= {"started_at_us": entry.at_us}
        case TurnRetried():
            changes |= {"queue_order": -entry.seq, "session_seq": payload.session_seq, **_NO_END}
        case TurnCompleted():
            changes |= {"ended_at_us": entry.at_us, "output_message": payload.output_message}
        case TurnFailed():
            changes |= {
                "ended_at_us": entry.at_us,
                "code": payload.code,
                "message": payload.message,
                "retryable": payload.retryable,
            }
        case TurnCancelled():
            changes |= {
                "ended_at_us": entry.at_us,
                "code": f"{_CANCELLED_BY}{payload.source}",
                "message": payload.reason,
                "effects_unknown": payload.effects_unknown,
            }
        case _:
            pass
    return status.model_copy(update=changes) if changes else status


def cancel_words(code: str | None) -> str:
    """What the code of a cancelled turn means, such as `with everything on its thread`; empty for another code."""
    return CANCELLED.get((code or "").removeprefix(_CANCELLED_BY), "")


def status_entry_id(turn_id: str, revision: int) -> str:
    """The id of the entry that gives a turn this revision."""
    return f"st:{turn_id}:{revision}"


def status_draft(turn_id: str, payload: object, **envelope: object) -> Draft:
    """The draft of a status entry; its id follows from turn and revision."""
    revision = getattr(payload, "revision")  # noqa: B009 - every status payload has one
    return Draft(status_entry_id(turn_id, revision), payload, turn_id=turn_id, **envelope)  # type: ignore[arg-type]
