"""From our messages to pydantic-ai's: the conversation a provider is sent.

Rule: nothing in a stored conversation can make it unsendable. The messages are a view, so calls and
results come in pairs, and pydantic-ai's own repair stands behind that; media whose bytes are gone become
a note, and a name providers would refuse is rewritten the same way in the call and in its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias, TypeGuard

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequestPart,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.messages import ModelRequest as WireRequest
from pydantic_ai.messages import ModelResponse as WireResponse
from pydantic_ai.tools import ToolDefinition

from turnwright.activities.models.carried import Carried, unpack
from turnwright.activities.models.files import file_of
from turnwright.activities.models.outcomes import media, words
from turnwright.activities.models.port import ModelRequest
from turnwright.journal.agents import ToolSpec
from turnwright.journal.messages import (
    Block,
    Media,
    Message,
    Outcome,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_REFUSED_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARACTERS_MAX = 64
WireOutcome: TypeAlias = Literal["success", "failed", "denied", "interrupted"]
_OUTCOMES: Final[dict[Outcome, WireOutcome]] = {
    "success": "success",
    "error": "failed",
    "denied": "denied",
    "interrupted": "interrupted",
    "unknown": "interrupted",
}


def conversation(request: ModelRequest) -> list[ModelMessage]:
    """The messages of a request, as pydantic-ai has them."""
    wire: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            _add_response(wire, message, request.blobs)
        else:
            _add_request(wire, _request_parts(message, request.blobs))
    return [message for message in repair_messages(wire) if message.parts]


def tool_definition(spec: ToolSpec) -> ToolDefinition:
    """A tool as pydantic-ai knows it."""
    return ToolDefinition(
        name=wire_name(spec.name),
        description=spec.description or None,
        parameters_json_schema=dict(spec.parameters),
    )


def wire_name(name: str) -> str:
    """The tool name a provider accepts: a model may have invented one with spaces or dots."""
    return _REFUSED_IN_NAMES.sub("_", name)[:_NAME_CHARACTERS_MAX] or "_"


def _add_request(wire: list[ModelMessage], parts: Iterable[ModelRequestPart]) -> None:
    collected: list[ModelRequestPart] = []
    if wire and isinstance(wire[-1], WireRequest):
        collected += wire[-1].parts
        wire.pop()
    for part in parts:
        last = collected[-1] if collected else None
        if _are_words(last) and _are_words(part):
            # Chat templates of small models demand that roles alternate: two messages in a row are one.
            collected[-1] = UserPromptPart(content=f"{last.content}\n\n{part.content}")
        else:
            collected.append(part)
    if collected:
        wire.append(WireRequest(parts=collected))


def _are_words(part: object) -> TypeGuard[UserPromptPart]:
    return isinstance(part, UserPromptPart) and isinstance(part.content, str)


def _request_parts(message: Message, blobs: Mapping[str, bytes]) -> Iterator[ModelRequestPart]:
    for block in message.blocks:
        if isinstance(block, ToolResult):
            yield _return_part(block, blobs)
    content = [
        block.text if isinstance(block, Text) else file_of(block, blobs)
        for block in message.blocks
        if isinstance(block, Text | Media)
    ]
    if not content:
        return
    texts = [item for item in content if isinstance(item, str)]
    if message.role == "system":
        yield SystemPromptPart(content="\n".join(texts))
    elif len(texts) == len(content):
        yield UserPromptPart(content="\n".join(texts))
    else:
        yield UserPromptPart(content=content)


def _return_part(result: ToolResult, blobs: Mapping[str, bytes]) -> ToolReturnPart:
    text = words(result)
    files = [file_of(block, blobs) for block in media(result)]
    return ToolReturnPart(
        tool_name=wire_name(result.name),
        # Anthropic refuses a text without words.
        content=[*([text] if text else ()), *files] if files else text,
        tool_call_id=result.id,
        outcome=_OUTCOMES[result.outcome],
    )


def _add_response(wire: list[ModelMessage], message: Message, blobs: Mapping[str, bytes]) -> None:
    reader = _ResponseReader(blobs)
    parts = [part for block in message.blocks for part in reader.parts(block)]
    if parts:
        wire.append(
            WireResponse(
                parts=parts,
                provider_name=reader.provider,
                provider_url=reader.url,
                canonical_system=reader.system,
            )
        )


class _ResponseReader:
    """Reads an assistant message block by block; data carried for the next block waits here for it."""

    def __init__(self, blobs: Mapping[str, bytes]) -> None:
        self.provider: str | None = None
        self.url: str | None = None
        self.system: str | None = None
        self._blobs = blobs
        self._for_next = Carried()
        self._for_next_provider: str | None = None

    def parts(self, block: Block) -> Iterator[ModelResponsePart]:
        """The wire parts of a block: one, or none for data that only rides along."""
        match block:
            case Thinking():
                yield from self._thinking(block)
            case Text():
                carried, provider = self._taken("text")
                yield TextPart(
                    content=block.text,
                    id=carried.id,
                    provider_name=provider,
                    provider_details=carried.details,
                )
            case ToolCall():
                yield self._call(block)
            case Media():
                file = file_of(block, self._blobs)
                if isinstance(file, BinaryContent):
                    yield FilePart(content=file)

    def _thinking(self, block: Thinking) -> Iterator[ThinkingPart]:
        carried = unpack(block)
        if block.provider is not None and not carried.empty:
            self.provider = block.provider
            self.url, self.system = carried.url or self.url, carried.system or self.system
        if carried.of != "thinking":
            self._for_next, self._for_next_provider = carried, block.provider
            return
        yield ThinkingPart(
            content=block.text,
            id=carried.id,
            signature=carried.signature,
            provider_name=block.provider,
            provider_details=carried.details,
        )

    def _call(self, block: ToolCall) -> ToolCallPart:
        carried, provider = self._taken("call")
        return ToolCallPart(
            tool_name=wire_name(block.name),
            args=block.arguments if block.malformed is None else block.malformed,
            tool_call_id=block.id,
            id=carried.id,
            provider_name=provider,
            provider_details=carried.details,
        )

    def _taken(self, of: Literal["text", "call"]) -> tuple[Carried, str | None]:
        carried, provider = self._for_next, self._for_next_provider
        self._for_next, self._for_next_provider = Carried(), None
        return (carried, provider) if carried.of == of else (Carried(), None)
