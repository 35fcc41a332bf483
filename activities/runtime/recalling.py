"""What an agent's own source of memory says for the next request.

Rule: an agent whose memory cannot be read is not asked without it; the attempt fails and is made again.
"""

from __future__ import annotations

from functools import partial

from turnwright.activities.memory import RECALL_TIMEOUT_S, RECALLED_CHARACTERS_MAX, RequestContext
from turnwright.activities.models.port import ModelFailure
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.tool_body import answer_of
from turnwright.activities.tool_errors import told
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.canonical import repair_text


def knows_memory(attempt: Attempt, definition: AgentDefinition) -> bool:
    """Whether this worker has the agent's source of memory, if the agent was pinned with one."""
    known = attempt.parts.registry.get(attempt.key.agent)
    return not definition.recalls or (known is not None and known.memory is not None)


async def recall(attempt: Attempt) -> str:
    """The text, cut where it is too long; empty when the agent has no such source.

    Raises:
        ModelFailure: the source raised, took too long, or gave no text.
    """
    known = attempt.parts.registry.get(attempt.key.agent)
    if known is None or known.memory is None:
        return ""
    key = attempt.key
    context = RequestContext(
        tenant=key.tenant,
        user=key.user,
        agent=key.agent,
        session=key.session,
        thread=key.thread,
        turn_id=attempt.given.turn,
        state=await attempt.state(),
    )
    ended = await answer_of(partial(known.memory, context), RECALL_TIMEOUT_S, f"memory of {key.agent}")
    if ended is None:
        raise ModelFailure("transient", f"the agent's memory was not read within {RECALL_TIMEOUT_S:g} s")
    if ended.error is not None:
        raise ModelFailure("transient", f"the agent's memory could not be read: {told(ended.error)}")
    if not isinstance(ended.value, str):
        raise ModelFailure("transient", f"the agent's memory gave a {type(ended.value).__name__}, and no text")
    return _bounded(repair_text(ended.value))


def _bounded(text: str) -> str:
    if len(text) <= RECALLED_CHARACTERS_MAX:
        return text
    return f"{text[:RECALLED_CHARACTERS_MAX]}\n[{len(text) - RECALLED_CHARACTERS_MAX:,} characters more are left out]"
