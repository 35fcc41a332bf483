"""What a tool is told that asked and is called again: the answers to its questions, read from the journal.

Rule: a question is known by the name its tool gave it, and the newest answer counts. What was erased was
never answered.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.persist import persist
from turnwright.activities.tool_context import Answer
from turnwright.journal import entry_ids
from turnwright.journal.entries import InteractionResolved
from turnwright.journal.store_admin import find_interaction

ANSWERS_MAX = 100


async def answers_of(attempt: Attempt, call_id: str, ordinal: int) -> Mapping[str, Answer]:
    """The answers to what earlier attempts of the call asked, by the questions' names."""
    found: dict[str, Answer] = {}
    for number in range(max(1, ordinal - ANSWERS_MAX), ordinal):
        answer = await _answer(attempt, entry_ids.interaction(call_id, number))
        if answer is not None:
            found[answer.name] = answer
    return found


async def _answer(attempt: Attempt, interaction_id: str) -> Answer | None:
    journal, key = attempt.parts.journal, attempt.key
    question = await persist(lambda: find_interaction(journal, key.tenant, interaction_id))
    if question is None or question.asked is None or not question.asked.again or question.row.settled_seq is None:
        return None
    seq = question.row.settled_seq
    entries = await persist(lambda: journal.entries(key, seq - 1, limit=1))
    payload = entries[0].payload if entries and entries[0].seq == seq else None
    if not isinstance(payload, InteractionResolved) or payload.resolution not in ("answer", "decline"):
        return None
    asked = question.asked.asked
    kept = asked.get("kept")
    return Answer(
        name=str(asked.get("name", "")),
        given=payload.resolution == "answer",
        values=payload.answer,
        kept=kept if isinstance(kept, dict) else {},
    )
