"""Testimony about model calls: answered, failed, interrupted.

Rule: the first answer closes the step, whichever attempt brings it; another is kept as late with its
usage counted. A failure or interruption concerns only the attempt that reports it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from turnwright.journal import entry_ids
from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import CallSpec, FailModel, InterruptModel, Rejection, RespondModel
from turnwright.journal.control import ModelOperation
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.decide.policy import decide_call
from turnwright.journal.decide.retry_policy import retry_delay_s
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import (
    Draft,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelResponded,
    Payload,
    ToolDecided,
    ToolFinished,
)
from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.messages import Block, Text, ToolCall, Usage
from turnwright.journal.permissions.facts import CallFacts

CALLS_PER_STEP_MAX = 100
MESSAGE_CHARACTERS_MAX = 2_000
# After how many refusals media are left out that they may be about; what was too long is made shorter before that.
LEAVING_OUT_AFTER: Mapping[FailureClass, int] = {"invalid": 1, "context_length": 2}
NO_CLAIM = Rejection("no_claim", "no attempt of this number ever claimed the step's model call")


def respond_model(context: Context, command: RespondModel) -> Decision:
    """Apply the answer with a decision about each of its calls, or keep it as late."""
    model = _open(context, command)
    if model is None:
        return [_late(command, "responded", command.blocks, command.usage)]
    if not 1 <= command.ordinal <= model.ordinal:
        return NO_CLAIM
    blocks = _with_own_call_ids(command)
    payload = ModelResponded(
        ordinal=command.ordinal,
        blocks=blocks,
        usage=command.usage,
        finish_reason=command.finish_reason,
        model=command.model,
        duration_ms=command.duration_ms,
        refused_media=command.refused_media,
    )
    responded = _draft(command, "responded", payload)
    drafts = [responded]
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    for n, call in enumerate(calls):
        for fact in _decided(context, command, call, n):
            entry_id = entry_ids.caused(responded.entry_id, len(drafts) - 1)
            drafts.append(Draft(entry_id, fact, turn_id=command.turn_id, step=command.step))
    return drafts


def fail_model(context: Context, command: FailModel) -> Decision:
    """Count the failure and say when the next attempt may start."""
    model = _running(context, command)
    if model is None:
        return [] if not command.usage.requests else [_late(command, "failed", (), command.usage)]
    count = model.failures.get(command.failure, 0) + 1
    seed = f"{command.turn_id}/{command.step}/{command.ordinal}"
    limits = context.control.limits
    delay_s = retry_delay_s(command.failure, count, limits, command.retry_after_s, seed)
    if command.suspects and count == LEAVING_OUT_AFTER.get(command.failure):
        delay_s = 0.0
    retry_at_us = None if delay_s is None else context.facts.now_us + math.ceil(delay_s * SECOND_US)
    payload = ModelFailed(
        ordinal=command.ordinal,
        failure=command.failure,
        message=_shortened(command.message),
        retry_at_us=retry_at_us,
        usage=command.usage,
        partial=command.partial,
    )
    return [_draft(command, "failed", payload)]


def interrupt_model(context: Context, command: InterruptModel) -> Decision:
    """Keep what had been streamed; the attempt is over.

    Only a cancel of the turn makes the partial answer part of the conversation: a run that was replaced has
    its calls cancelled too, and there the next attempt answers anew.
    """
    model = _running(context, command)
    if model is None:
        kept = bool(command.usage.requests or command.partial)
        return [_late(command, "interrupted", command.partial, command.usage)] if kept else []
    active = context.control.turn(command.turn_id)
    cancelling = active is not None and active.status.phase == "cancelling"
    payload = ModelInterrupted(
        ordinal=command.ordinal,
        reason="drained" if command.reason == "cancelled" and not cancelling else command.reason,
        partial=_settled(command.partial),
        usage=command.usage,
    )
    return [_draft(command, "interrupted", payload)]


def _open(context: Context, command: RespondModel) -> ModelOperation | None:
    """The step's operation while nothing has closed it."""
    active = context.control.turn(command.turn_id)
    model = None if active is None else active.model
    return model if model is not None and model.step == command.step else None


def _running(context: Context, command: FailModel | InterruptModel) -> ModelOperation | None:
    """The step's operation, if the reporting attempt is the one that runs it."""
    active = context.control.turn(command.turn_id)
    model = None if active is None else active.model
    if model is None or model.claim is None:
        return None
    return model if (model.step, model.ordinal) == (command.step, command.ordinal) else None


def _with_own_call_ids(command: RespondModel) -> tuple[Block, ...]:
    blocks: list[Block] = []
    calls = 0
    for block in command.blocks:
        if isinstance(block, ToolCall):
            own_id = entry_ids.call(command.turn_id, command.step, calls)
            blocks.append(block.model_copy(update={"id": own_id}))
            calls += 1
        else:
            blocks.append(block)
    return tuple(blocks)


def _settled(partial: tuple[Block, ...]) -> tuple[Block, ...]:
    """A partial answer without the calls it had begun to ask for: none of them was decided."""
    return tuple(block for block in partial if not isinstance(block, ToolCall))


def _decided(context: Context, command: RespondModel, call: ToolCall, n: int) -> list[Payload]:
    spec = command.tools.get(call.name)
    refused = _refused(call, spec, n)
    if spec is not None and refused is None:
        facts = command.facts[n] if n < len(command.facts) else CallFacts()
        return decide_call(context, call, spec, facts)
    source, why = refused or ("unknown_tool", "")
    decided = ToolDecided(
        call_id=call.id,
        name=call.name,
        decision="deny",
        source=source,
        effect="once" if spec is None else spec.effect,
        arguments_digest=digest_of(call.arguments),
    )
    output = (Text(text=why),)
    return [decided, ToolFinished(call_id=call.id, name=call.name, ordinal=0, outcome="error", output=output)]


def _refused(call: ToolCall, spec: CallSpec | None, n: int) -> tuple[str, str] | None:
    """Why a call is none that could run, as a source and in words for the model."""
    if n >= CALLS_PER_STEP_MAX:
        why = f"This is more than the {CALLS_PER_STEP_MAX} calls that one step may make; it was not run."
        return "too_many_calls", why
    if spec is None:
        return "unknown_tool", f"There is no tool named {_shortened(call.name)!r}."
    if spec.inactive_group is not None:
        return "inactive_tool", f"{call.name} is in the tool group {spec.inactive_group!r}; activate that first."
    return None


def _shortened(text: str) -> str:
    """The text itself, or its beginning with a mark: what stands in control is bounded."""
    return text if len(text) <= MESSAGE_CHARACTERS_MAX else f"{text[: MESSAGE_CHARACTERS_MAX - 1]}\u2026"


def _late(
    command: RespondModel | FailModel | InterruptModel, what: str, blocks: tuple[Block, ...], usage: Usage
) -> Draft:
    payload = ModelLate(ordinal=command.ordinal, what=what, blocks=blocks, usage=usage)  # type: ignore[arg-type]
    return _draft(command, "late", payload)


def _draft(command: RespondModel | FailModel | InterruptModel, what: str, payload: Payload) -> Draft:
    entry_id = entry_ids.model(command.turn_id, command.step, command.ordinal, what)
    return Draft(entry_id, payload, turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch)
