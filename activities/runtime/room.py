"""Room for the next model call: what of a conversation that is too long gives way, and that is journaled first.

Rule: nothing here may stop a turn. A summary that cannot be had, or that the journal refuses, changes nothing, and the
call is made with what is there. What writing it took is counted in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from turnwright.activities.models.port import ModelFailure, ModelRequest, Partial
from turnwright.activities.runtime.attempt import Attempt
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ContextPolicy
from turnwright.journal.commands import CompactContext
from turnwright.journal.context.candidate import Candidate, candidate, too_long
from turnwright.journal.context.summaries import INSTRUCTIONS, pieces, question
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.entries import ContextCompacted
from turnwright.journal.messages import Usage, user

log = structlog.get_logger(__name__)
WINDOW_TOKENS_MIN = 1_000
PIECE_OF_WINDOW = 0.5


@dataclass(slots=True)
class Room:
    """What making room took that no entry has counted yet."""

    usage: Usage = field(default_factory=Usage)


async def make_room(attempt: Attempt, ordinal: int, state: AgentState, room: Room, *, refused: bool) -> AgentState:
    """The state, after what had to give way has; `refused`: the provider has said that the request is too long."""
    definition = state.agent
    if definition is None:
        return state
    policy = _policy(definition.context, state, refused=refused)
    found = candidate(state, policy) if too_long(state, policy) else None
    if found is None:
        return state
    try:
        compacted = await _summarised(attempt, ordinal, definition, policy, state, found, room)
    except ModelFailure as failure:
        room.usage += failure.usage
        log.warning("summary_failed", failure=failure.failure, error=str(failure), then="the model is called without")
        if not found.offloads:
            return state
        compacted = None
    outcome = await attempt.commit(
        CompactContext(**attempt.named, ordinal=ordinal, offloads=found.offloads, compacted=compacted)
    )
    if outcome.rejection is not None:
        log.warning("context_not_compacted", code=outcome.rejection.code, reason=outcome.rejection.reason)
        return state
    if compacted is not None:
        room.usage = Usage()
    after = await attempt.state()
    log.info("context_compacted", tokens_before=request_tokens(state), tokens_after=request_tokens(after))
    return after


def _policy(policy: ContextPolicy, state: AgentState, *, refused: bool) -> ContextPolicy:
    """The agent's, or what follows from a provider's refusal: the window is smaller than what it was sent."""
    if not refused:
        return policy
    sent = max(WINDOW_TOKENS_MIN, int(request_tokens(state) / policy.compact_above) - 1)
    return policy.model_copy(update={"window_tokens": min(sent, policy.window_tokens or sent)})


async def _summarised(
    attempt: Attempt,
    ordinal: int,
    definition: AgentDefinition,
    policy: ContextPolicy,
    state: AgentState,
    found: Candidate,
    room: Room,
) -> ContextCompacted | None:
    """The entry that replaces the oldest messages by a summary; None: only results give way.

    Raises:
        ModelFailure: the model brought no summary.
    """
    if not found.replaced:
        return None
    summary = state.summary
    for piece in pieces(found.replaced, int((policy.window_tokens or 0) * PIECE_OF_WINDOW)):
        own = policy.summary_model is None
        response = await attempt.parts.models.respond(
            ModelRequest(
                model=policy.summary_model or definition.model,
                instructions=INSTRUCTIONS,
                messages=(user(question(summary, piece)),),
                settings={**(definition.model_settings if own else {}), "max_tokens": policy.summary_tokens_max},
                base_url=definition.base_url if own else None,
                attempt=ordinal,
            ),
            Partial(),
        )
        room.usage += response.usage
        summary = "".join(block.text for block in response.blocks if block.type == "text").strip()
    return found.compacted(summary).model_copy(update={"usage": room.usage})
