"""Policies that make calls ask before they run, put between a decision and its commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tests.unit.journal.thread_machine import Policy
from turnwright.journal import entry_ids
from turnwright.journal.entries import Draft, InteractionRequested, ToolDecided

Kind = Literal["approval", "form", "external"]


def asking(
    *names: str, kind: Kind = "approval", deadline_s: float | None = None, on_expiry: str | None = None
) -> Policy:
    """Calls of these tools ask; a question may have a deadline and what passing it means."""

    def policy(drafts: list[Draft], now_us: int) -> list[Draft]:
        if not any(draft.type == "model.responded" for draft in drafts):
            return drafts
        asked: list[Draft] = []
        for draft in drafts:
            payload = draft.payload
            if not isinstance(payload, ToolDecided) or payload.name not in names or payload.decision != "allow":
                asked.append(draft)
                continue
            asked.append(replace(draft, payload=payload.model_copy(update={"decision": "ask", "source": "policy"})))
            asked.append(_question(draft, payload, now_us))
        return asked

    def _question(draft: Draft, payload: ToolDecided, now_us: int) -> Draft:
        interaction_id = entry_ids.interaction(draft.turn_id or "", payload.call_id, 0)
        question = InteractionRequested(
            interaction_id=interaction_id,
            kind=kind,
            call_id=payload.call_id,
            arguments_digest=payload.arguments_digest,
            deadline_us=None if deadline_s is None else now_us + round(deadline_s * 1_000_000),
            on_expiry=on_expiry,
        )
        return Draft(f"{interaction_id}/asked", question, turn_id=draft.turn_id, step=draft.step)

    return policy
