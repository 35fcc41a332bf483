"""One attempt of a step's model call: claim, call, report.

Rule: the claim is in the journal before the provider is called, and the answer is in the journal before
anything acts on it, with what this worker found out about each call it asks for. What had been streamed when
the call was stopped is kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import structlog

from turnwright.activities.models.port import ModelFailure, ModelResponse, Partial
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.call_facts import facts_of_answer, knows_checks
from turnwright.activities.runtime.drafting import Draft
from turnwright.activities.runtime.listed import knows_sources, list_tools
from turnwright.activities.runtime.recalling import knows_memory, recall
from turnwright.activities.runtime.request import request_of
from turnwright.activities.runtime.reserve import expected_use
from turnwright.activities.runtime.room import Room, make_room
from turnwright.activities.runtime.supervise import Ended, supervise
from turnwright.activities.runtime.watcher import Watched
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ToolSpec
from turnwright.journal.commands import CallSpec, FailModel, InterruptModel, RequestModel, RespondModel, Testimony
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.view import offered_tools, suspects
from turnwright.workflows.payloads import Next

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Call:
    """A claimed model call while it runs."""

    attempt: Attempt
    definition: AgentDefinition
    ordinal: int
    draft: Draft
    partial: Partial
    started_s: float = field(default_factory=time.monotonic)
    tools: tuple[ToolSpec, ...] = ()
    offered: tuple[ToolSpec, ...] = ()
    state: AgentState | None = None
    facts: tuple[CallFacts, ...] = ()
    failed: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    room: Room = field(default_factory=Room)

    @property
    def base(self) -> dict[str, Any]:
        """What every testimony about this attempt says."""
        return {**self.attempt.named, "ordinal": self.ordinal, "drafted": self.draft.written}


async def model_step(attempt: Attempt) -> Next:
    """Carry out the step's model call and say what the turn does next."""
    given = attempt.given
    await attempt.parts.boundary("model:begun")
    state = await attempt.state()
    definition = state.agent
    if definition is None:
        raise StoreCorrupt("a step is to run and no agent is pinned", attempt.key.canonical)
    if not all(knows(attempt, definition) for knows in (knows_checks, knows_memory, knows_sources)):
        raise attempt.agent_unknown()
    outcome = await attempt.commit(
        RequestModel(
            **attempt.named,
            nonce=attempt.nonce,
            presence=attempt.presence,
            model=definition.model,
            reserve=expected_use(state),
        )
    )
    active = outcome.control.turn(given.turn)
    model = None if active is None else active.model
    if outcome.rejection is None and model is not None:
        watched = attempt.watched(outcome, model.ordinal)
        draft = attempt.parts.drafting.draft(watched)
        call = Call(attempt, definition, model.ordinal, draft, Partial(draft.said))
        call.failed = frozenset(model.failures)
        return await _carry_out(call, watched)
    return attempt.refused(outcome)


async def _carry_out(call: Call, watched: Watched) -> Next:
    attempt = call.attempt
    attempt.lost = InterruptModel(**call.base | {"drafted": True}, reason="lost")
    await attempt.parts.boundary("model:claimed")
    within = attempt.parts.within(attempt.given.turn, attempt.given.step, "", call.ordinal)
    with attempt.parts.watcher.watching(watched), within:
        async with attempt.parts.drafting.writing(call.draft):
            ended = await supervise(_respond(call), attempt.stop, attempt.parts.settings.model_stop_s)
    duration_ms = round((time.monotonic() - call.started_s) * 1000)
    if ended.value is not None and call.state is not None:
        call.facts = await facts_of_answer(attempt, call.state, ended.value.blocks)
    await attempt.parts.boundary("model:answered")
    otherwise = FailModel(**call.base, failure="invalid", message="the journal cannot hold what the model answered")
    following = await attempt.report(_testimony(call, ended, duration_ms), otherwise)
    await attempt.parts.boundary("model:reported")
    return following


async def _respond(call: Call) -> ModelResponse:
    attempt, definition = call.attempt, call.definition
    before = await list_tools(attempt, call.ordinal, await attempt.state())
    recalled = await recall(attempt)
    too_long = "context_length" in call.failed
    state = await make_room(attempt, call.ordinal, before, call.room, recalled=recalled, refused=too_long)
    call.state, call.offered = state, offered_tools(state)
    call.tools = () if state.agent is None else state.agent.tools
    if "invalid" in call.failed or (too_long and state.context == before.context):
        call.left_out = suspects(state)
    request = await request_of(attempt, definition, call.ordinal, state, recalled, call.left_out)
    return await attempt.parts.models.respond(request, call.partial)


def _testimony(call: Call, ended: Ended[ModelResponse], duration_ms: int) -> Testimony:
    partial = call.partial
    if ended.value is not None:
        return _answer(call, ended.value, duration_ms)
    if ended.stopped is not None:
        used = partial.usage + call.room.taken
        return InterruptModel(**call.base, reason=ended.stopped, partial=partial.blocks, usage=used)
    failure = _failure(ended.error)
    return FailModel(
        **call.base,
        failure=failure.failure,
        message=str(failure),
        retry_after_s=failure.retry_after_s,
        usage=failure.usage + call.room.taken,
        partial=partial.blocks,
        suspects=isinstance(ended.error, ModelFailure) and _has_suspects(call),
    )


def _has_suspects(call: Call) -> bool:
    """Whether the request held media that it may have been refused for."""
    return call.state is not None and not call.left_out and bool(suspects(call.state))


def _answer(call: Call, response: ModelResponse, duration_ms: int) -> RespondModel:
    return RespondModel(
        **call.base,
        blocks=response.blocks,
        usage=response.usage + call.room.taken,
        finish_reason=response.finish_reason,
        model=response.model,
        duration_ms=duration_ms,
        tools={tool.name: CallSpec.of(tool, active=tool in call.offered) for tool in call.tools},
        facts=call.facts,
        refused_media=call.left_out,
        blobs=response.blobs,
    )


def _failure(error: BaseException | None) -> ModelFailure:
    """The failure to record; one nobody foresaw is counted like a broken connection."""
    if isinstance(error, ModelFailure):
        return error
    log.error("model_step_broke", exc_info=error)
    if isinstance(error, StoreCorrupt):  # asking again brings nothing back
        return ModelFailure("invalid", str(error))
    return ModelFailure("transient", f"{type(error).__name__}: {error}")
