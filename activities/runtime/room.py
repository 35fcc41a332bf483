"""Room for the next model call: what of a conversation that is too long gives way, and that is journaled first.

Rule: nothing here may stop a turn. A candidate whose summary cannot be had, that the model's adapter would not send, or
that the journal refuses, takes the place of nothing, and the call is made with what is there. That it failed is
recorded, so that the next step does not try the same again, and what it took is counted in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import structlog

from turnwright.activities.models.port import ModelFailure, ModelRequest, Partial
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.request import request_of
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ContextPolicy
from turnwright.journal.commands import CompactContext
from turnwright.journal.context.candidate import Candidate, after, candidate, held_back, too_long
from turnwright.journal.context.summaries import INSTRUCTIONS, pieces, question
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.entries import ContextCompacted
from turnwright.journal.messages import Usage, user

log = structlog.get_logger(__name__)
WINDOW_TOKENS_MIN = 1_000
PIECE_OF_WINDOW = 0.5
NOTHING_GIVES_WAY = "nothing of the conversation can give way"


@dataclass(slots=True)
class Room:
    """What making room took that no entry has counted yet. `asking`: the call for a summary, from its beginning on."""

    usage: Usage = field(default_factory=Usage)
    asking: Partial | None = None

    @property
    def taken(self) -> Usage:
        """All of it, with what a summary took that was cut off."""
        return self.usage if self.asking is None else self.usage + self.asking.usage


@dataclass(frozen=True, slots=True)
class _Making:
    """One try to make room: for which attempt, in what state, by which policy."""

    attempt: Attempt
    ordinal: int
    definition: AgentDefinition
    policy: ContextPolicy
    state: AgentState
    recalled: str
    room: Room


async def make_room(
    attempt: Attempt, ordinal: int, state: AgentState, room: Room, *, recalled: str, refused: bool
) -> AgentState:
    """The state, after what had to give way has.

    `recalled` is what the request holds of the agent's memory; `refused`: the provider has said that it is too long.
    """
    definition = state.agent
    if definition is None:
        return state
    asked = bool(state.compaction.requested_seq)
    policy = _policy(definition.context, state, shorter=refused or asked)
    making = _Making(attempt, ordinal, definition, policy, state, recalled, room)
    if not (refused or asked):
        if not too_long(state, policy, recalled):
            return state
        found = candidate(state, policy, recalled, summarise=not held_back(state, policy))
    else:
        found = candidate(state, policy, recalled)
    if found is not None:
        return await _give_way(making, found)
    return await _commit(making, failed=NOTHING_GIVES_WAY) if asked else state


def _policy(policy: ContextPolicy, state: AgentState, *, shorter: bool) -> ContextPolicy:
    """The agent's, or that of a window which the request as it is would not fit."""
    if not shorter:
        return policy
    sent = max(WINDOW_TOKENS_MIN, int(request_tokens(state) / policy.compact_above) - 1)
    return policy.model_copy(update={"window_tokens": min(sent, policy.window_tokens or sent)})


async def _give_way(making: _Making, found: Candidate) -> AgentState:
    compacted: ContextCompacted | None = None
    try:
        compacted = await _summarised(making, found)
    except ModelFailure as failure:
        making.room.asking = None
        making.room.usage += failure.usage
        return await _commit(making, found, failed=f"no summary was to be had: {failure}")
    would_be = after(making.state, found.offloads, compacted)
    try:
        request = await request_of(making.attempt, making.definition, making.ordinal, would_be, making.recalled)
        await making.attempt.parts.models.check(request)
    except ModelFailure as failure:
        return await _commit(making, failed=f"the shorter request could not be sent: {failure}")
    return await _commit(making, found, compacted)


async def _commit(
    making: _Making, found: Candidate | None = None, compacted: ContextCompacted | None = None, failed: str = ""
) -> AgentState:
    """Record what gives way, or at least that it failed; the state after that."""
    attempt, room = making.attempt, making.room
    offloads = () if found is None else found.offloads
    command = CompactContext(
        **attempt.named, ordinal=making.ordinal, offloads=offloads, compacted=compacted, failed=failed, usage=room.usage
    )
    outcome = await attempt.commit(command)
    if outcome.rejection is not None and outcome.rejection.code == "not_compactable":
        outcome = await attempt.commit(replace(command, offloads=(), compacted=None, failed=outcome.rejection.reason))
    if outcome.rejection is not None:
        log.warning("context_not_compacted", code=outcome.rejection.code, reason=outcome.rejection.reason)
        return making.state
    if compacted is not None or failed:
        room.usage = Usage()
    now = await attempt.state()
    if now.compaction.failures > making.state.compaction.failures:
        log.warning("summary_failed", error=now.compaction.reason, then="the model is called without")
    if now.context != making.state.context:
        log.info("context_compacted", tokens_before=request_tokens(making.state), tokens_after=request_tokens(now))
    return now


async def _summarised(making: _Making, found: Candidate) -> ContextCompacted | None:
    """The entry that replaces the oldest messages by a summary; None: only results give way.

    Raises:
        ModelFailure: the model brought no summary.
    """
    if not found.replaced:
        return None
    definition, policy, summary = making.definition, making.policy, making.state.summary
    for piece in pieces(found.replaced, int((policy.window_tokens or 0) * PIECE_OF_WINDOW)):
        own = policy.summary_model is None
        making.room.asking = Partial()
        response = await making.attempt.parts.models.respond(
            ModelRequest(
                model=policy.summary_model or definition.model,
                instructions=INSTRUCTIONS,
                messages=(user(question(summary, piece)),),
                settings={**(definition.model_settings if own else {}), "max_tokens": policy.summary_tokens_max},
                base_url=definition.base_url if own else None,
                attempt=making.ordinal,
            ),
            making.room.asking,
        )
        making.room.asking = None
        making.room.usage += response.usage
        summary = "".join(block.text for block in response.blocks if block.type == "text").strip()
    return found.compacted(summary).model_copy(update={"usage": making.room.usage})
