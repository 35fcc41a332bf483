"""One attempt of a step's model call: claim, call, report.

Rule: the claim is in the journal before the provider is called, and the answer is in the journal before
anything acts on it. What had been streamed when the call was stopped is kept.
"""

from __future__ import annotations

import time

import structlog

from turnwright.activities.models.port import ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.activities.runtime.attempt import Attempt, Parts
from turnwright.activities.runtime.supervise import Ended, supervise
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.commands import CallSpec, FailModel, InterruptModel, RequestModel, RespondModel, Testimony
from turnwright.journal.entries.operation import InterruptReason
from turnwright.journal.errors import JournalError
from turnwright.journal.view import request_messages
from turnwright.workflows.payloads import Next, StepInput

log = structlog.get_logger(__name__)
_REASONS: dict[str, InterruptReason] = {"cancelled": "cancelled", "abandoned": "lost", "drained": "drained"}


async def model_step(parts: Parts, given: StepInput) -> Next:
    """Carry out the step's model call and say what the turn does next."""
    attempt = Attempt.begin(parts, given)
    definition = (await attempt.state()).agent
    if definition is None:
        raise JournalError(f"thread {given.thread} runs a step and has no agent; run `turnwright journal verify`")
    outcome = await attempt.commit(
        RequestModel(
            turn_id=given.turn,
            run=attempt.run_id,
            epoch=given.epoch,
            step=given.step,
            nonce=attempt.nonce,
            presence=attempt.presence,
            model=definition.model,
        )
    )
    active = outcome.control.turn(given.turn)
    if outcome.rejection is not None or active is None or active.model is None:
        log.info("model_step_not_claimed", code=outcome.rejection and outcome.rejection.code)
        return attempt.next_of(outcome)
    ordinal = active.model.ordinal
    partial, started = Partial(), time.monotonic()
    with parts.watcher.watching(attempt.watched(outcome, ordinal)) as watched:
        ended = await supervise(
            _call(attempt, definition, ordinal, partial),
            watched,
            parts.settings.heartbeat_interval_s,
            parts.settings.model_stop_s,
        )
    duration_ms = round((time.monotonic() - started) * 1000)
    return await attempt.report(_testimony(attempt, definition, ordinal, ended, partial, duration_ms))


async def _call(attempt: Attempt, definition: AgentDefinition, ordinal: int, partial: Partial) -> ModelResponse:
    state = await attempt.state()
    request = ModelRequest(
        model=definition.model,
        instructions=definition.instructions,
        messages=request_messages(state),
        tools=definition.tools,
        settings=definition.model_settings,
        base_url=definition.base_url,
        attempt=ordinal,
        blobs=await attempt.media(state),
    )
    return await attempt.parts.models.respond(request, partial)


def _testimony(
    attempt: Attempt,
    definition: AgentDefinition,
    ordinal: int,
    ended: Ended[ModelResponse],
    partial: Partial,
    duration_ms: int,
) -> Testimony:
    given = attempt.given
    base = {"turn_id": given.turn, "run": attempt.run_id, "epoch": given.epoch, "step": given.step, "ordinal": ordinal}
    if ended.value is not None:
        response = ended.value
        return RespondModel(
            **base,  # type: ignore[arg-type]
            blocks=response.blocks,
            usage=response.usage,
            finish_reason=response.finish_reason,
            model=response.model,
            duration_ms=duration_ms,
            tools={tool.name: CallSpec(tool.effect, tool.reconcilable) for tool in definition.tools},
            blobs=response.blobs,
        )
    if ended.stopped is not None:
        reason = _REASONS[ended.stopped]
        return InterruptModel(**base, reason=reason, partial=partial.blocks, usage=partial.usage)  # type: ignore[arg-type]
    failure = _failure(ended.error)
    return FailModel(
        **base,  # type: ignore[arg-type]
        failure=failure.failure,
        message=str(failure),
        retry_after_s=failure.retry_after_s,
        usage=failure.usage,
        partial=partial.blocks,
    )


def _failure(error: BaseException | None) -> ModelFailure:
    """The failure to record; one nobody foresaw is counted like a broken connection."""
    if isinstance(error, ModelFailure):
        return error
    log.error("model_step_broke", exc_info=error)
    return ModelFailure("transient", f"{type(error).__name__}: {error}")
