"""The adapter to pydantic-ai's models: one request at a time, streamed, without retries of its own.

Rule: this is the only place where a provider is called. SDKs are told to try once, because a retry
the journal does not know of is neither counted nor paid for knowingly. Cancellation is never caught:
it closes the connection, also while a stream is silent.
"""

from __future__ import annotations

from typing import cast

import structlog
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.messages import ModelResponse as WireResponse
from pydantic_ai.models import Model as WireModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from turnwright.activities.models.answer import answer, usage_of
from turnwright.activities.models.clients import Clients, Key
from turnwright.activities.models.conversation import conversation, tool_definition
from turnwright.activities.models.failures import failure_of, message_of
from turnwright.activities.models.files import has_files, without_files
from turnwright.activities.models.port import ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.journal.messages import Usage

# A setting of ours, for servers that never say why an answer ended.
FINISH_REASON_OPTIONAL = "finish_reason_optional"

log = structlog.get_logger(__name__)


class PydanticAIModel:
    """Every model pydantic-ai knows by name, and any OpenAI-compatible server by its base URL."""

    def __init__(self) -> None:
        self._clients = Clients()

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        """Answer the request, streaming into `partial`."""
        seen = _Seen(partial)
        try:
            async with self._clients.use(_key(request)) as model:
                wire = await _stream(model, request, seen)
        except ModelFailure:
            raise
        except Exception as error:
            raise failure_of(error, partial.usage, streaming=seen.streaming) from error
        return _whole(wire, request, partial.usage)

    async def check(self, request: ModelRequest) -> None:
        """Make the request as the provider's protocol wants it, and send nothing."""
        try:
            async with self._clients.use(_key(request)) as model:
                parameters = _parameters(request)
                model.prepare_messages(_messages(request), parameters)
                model.prepare_request(_settings(request), parameters)
        except ModelFailure:
            raise
        except Exception as error:
            raise failure_of(error, Usage(), streaming=False) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()


class _Seen:
    """How far a call came: `opened` when the provider answered, `streaming` when it said something."""

    def __init__(self, partial: Partial) -> None:
        self.opened = False
        self.streaming = False
        self._partial = partial

    def event(self, event: ModelResponseStreamEvent) -> None:
        """Take in one event of the stream."""
        self.streaming = True
        match event:
            case PartStartEvent(part=TextPart() as part):
                self._partial.extend(event.index, "text", part.content)
            case PartStartEvent(part=ThinkingPart() as part):
                self._partial.extend(event.index, "thinking", part.content)
            case PartDeltaEvent(delta=TextPartDelta() as delta):
                self._partial.extend(event.index, "text", delta.content_delta)
            case PartDeltaEvent(delta=ThinkingPartDelta() as delta):
                self._partial.extend(event.index, "thinking", delta.content_delta or "")

    def usage(self, wire: WireResponse) -> None:
        """Keep what the request is known to have cost."""
        self._partial.usage = usage_of(wire)


def _key(request: ModelRequest) -> Key:
    return Key(request.model, request.base_url, bool(request.settings.get(FINISH_REASON_OPTIONAL, False)))


def _messages(request: ModelRequest) -> list[ModelMessage]:
    messages = conversation(request)
    if not messages:
        raise ModelFailure("invalid", "the conversation is empty: there is nothing for a model to answer")
    return messages


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[tool_definition(spec) for spec in request.tools],
        instruction_parts=[InstructionPart(content=request.instructions)] if request.instructions else [],
    )


async def _stream(model: WireModel, request: ModelRequest, seen: _Seen) -> WireResponse:
    messages = _messages(request)
    try:
        return await _stream_of(model, request, messages, seen)
    except ModelAPIError:
        raise
    except Exception as error:
        if seen.opened or not has_files(messages):
            raise
        # Nothing was sent: a file of a kind this model has no place for, or whose URL leads nowhere.
        log.warning("files_left_out", model=request.model, reason=message_of(error))
        return await _stream_of(model, request, without_files(messages), seen)


async def _stream_of(
    model: WireModel, request: ModelRequest, messages: list[ModelMessage], seen: _Seen
) -> WireResponse:
    parameters = _parameters(request)
    async with model_request_stream(
        model,
        model.prepare_messages(messages, parameters),
        model_settings=_settings(request),
        model_request_parameters=parameters,
    ) as stream:
        seen.opened = True
        try:
            async for event in stream:
                seen.event(event)
        finally:
            seen.usage(stream.get())
        return stream.get()


def _settings(request: ModelRequest) -> ModelSettings:
    own = {name: value for name, value in request.settings.items() if name != FINISH_REASON_OPTIONAL}
    return cast("ModelSettings", {**own, "max_retries": 0})


def _whole(wire: WireResponse, request: ModelRequest, usage: Usage) -> ModelResponse:
    """The answer, if it is one: not cut short by the connection, and not taken back by the provider."""
    if wire.state in ("incomplete", "interrupted"):
        raise ModelFailure("cut", "the stream ended before the answer did", usage=usage)
    if wire.state == "suspended" or wire.finish_reason == "error":
        raise ModelFailure("transient", "the provider gave up on the answer before it was whole", usage=usage)
    if wire.finish_reason == "content_filter" and not wire.parts:
        said = (wire.provider_details or {}).get("refusal") or "the provider's content filter refused to answer"
        raise ModelFailure("refused", str(said), usage=usage)
    return answer(wire, request.messages, request.model)
