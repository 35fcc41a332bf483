"""A question to people or outside systems, from its entry to its end: what the `interactions` table knows.

Rule: a fold of `interaction.*` entries, so the table is a projection; a question stays when it is settled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from turnwright.journal.entries import Entry, InteractionExpired, InteractionRequested, InteractionResolved

QuestionState: TypeAlias = Literal["open", "resolved", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question: who was asked what, and what became of it. Times are microseconds.

    `tool` is the tool the question is about, `asked_seq` the entry that asked, `principal` who settled it.
    """

    interaction_id: str
    turn_id: str
    kind: str
    call_id: str | None
    tool: str | None
    state: QuestionState
    resolution: str | None
    principal: str
    asked_seq: int
    settled_seq: int | None
    asked_us: int
    settled_us: int | None
    deadline_us: int | None


def begin_interaction(entry: Entry) -> Interaction | None:
    """The question an `interaction.requested` asks; None for any other entry."""
    payload = entry.payload
    if not isinstance(payload, InteractionRequested):
        return None
    tool = payload.asked.get("tool")
    return Interaction(
        interaction_id=payload.interaction_id,
        turn_id=entry.turn_id or "",
        kind=payload.kind,
        call_id=payload.call_id,
        tool=tool if isinstance(tool, str) else None,
        state="open",
        resolution=None,
        principal="",
        asked_seq=entry.seq,
        settled_seq=None,
        asked_us=entry.at_us,
        settled_us=None,
        deadline_us=payload.deadline_us,
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """How a question ended."""

    interaction_id: str
    state: QuestionState
    resolution: str
    principal: str
    seq: int
    at_us: int

    def of(self, question: Interaction) -> Interaction:
        """The question after it."""
        return replace(
            question,
            state=self.state,
            resolution=self.resolution,
            principal=self.principal,
            settled_seq=self.seq,
            settled_us=self.at_us,
        )


def settlement(entry: Entry) -> Settled | None:
    """The end an entry makes of a question; None for any other entry."""
    payload = entry.payload
    match payload:
        case InteractionResolved():
            state: QuestionState = "cancelled" if payload.resolution == "cancelled" else "resolved"
            return Settled(payload.interaction_id, state, payload.resolution, payload.principal, entry.seq, entry.at_us)
        case InteractionExpired():
            return Settled(payload.interaction_id, "expired", payload.resolution, "", entry.seq, entry.at_us)
        case _:
            return None
