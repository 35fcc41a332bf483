"""From pydantic-ai's response to our blocks.

Rule: an answer is taken whole or not at all, and what is taken can be stored and sent again. Texts
are repaired here, arguments that are no JSON object are kept as they were written, and a call gets
an id no other call of the conversation has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Literal, NoReturn

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.messages import ModelResponse as WireResponse

from turnwright.activities.models.call_ids import distinct_id, taken_ids
from turnwright.activities.models.carried import Carried, pack
from turnwright.activities.models.port import ModelResponse
from turnwright.journal.canonical import repair, repair_text
from turnwright.journal.messages import Block, Media, Message, Text, Thinking, ToolCall, Usage

ARGUMENTS_DEPTH_MAX = 64
# Marks thinking that came in tags inside the text: there is no field to send it back in.
_TAGGED_THINKING = "content"


def answer(wire: WireResponse, conversation: Iterable[Message], model: str) -> ModelResponse:
    """The response in our types; `conversation` is what it answers."""
    taken = taken_ids(conversation)
    blobs: dict[str, bytes] = {}
    blocks = tuple(block for part in wire.parts for block in _blocks(part, wire, taken, blobs))
    return ModelResponse(
        blocks=blocks,
        usage=usage_of(wire),
        finish_reason=wire.finish_reason or "stop",
        model=_model_name(wire.model_name) or model,
        blobs=blobs,
    )


def _model_name(name: str | None) -> str | None:
    # llama.cpp gives the path of the weights, which is nobody's business but the machine's.
    return PurePosixPath(name).name if name is not None and name.startswith("/") else name


def usage_of(wire: WireResponse) -> Usage:
    """What the request cost, as far as the provider said."""
    used = wire.usage
    return Usage(
        requests=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cost_microusd=int((_cost_usd(wire) * 1_000_000).to_integral_value()),
    )


def _cost_usd(wire: WireResponse) -> Decimal:
    if wire.usage.cost is not None:
        return wire.usage.cost
    try:
        return wire.cost().total_price
    except (LookupError, ValueError, AssertionError):
        # A model nobody has a price list for, such as one on this machine.
        return Decimal(0)


def _blocks(part: ModelResponsePart, wire: WireResponse, taken: set[str], blobs: dict[str, bytes]) -> Iterator[Block]:
    match part:
        case TextPart():
            yield from _rider("text", part, wire)
            if part.content:
                yield Text(text=repair_text(part.content))
        case ThinkingPart():
            yield from _thinking(part, wire)
        case ToolCallPart():
            yield from _rider("call", part, wire)
            yield _call(part, taken)
        case FilePart():
            yield _media(part.content, blobs)
        case _:
            return  # native tools and server-side compaction are never asked for


def _thinking(part: ThinkingPart, wire: WireResponse) -> Iterator[Thinking]:
    carried = Carried(
        id=None if part.id == _TAGGED_THINKING else part.id,
        signature=part.signature,
        details=part.provider_details,
        url=wire.provider_url if part.signature or part.provider_details else None,
        system=wire.canonical_system if part.signature or part.provider_details else None,
    )
    if part.content or not carried.empty:
        yield Thinking(text=repair_text(part.content), signature=pack(carried), provider=part.provider_name)


def _rider(of: Literal["text", "call"], part: TextPart | ToolCallPart, wire: WireResponse) -> Iterator[Thinking]:
    carried = Carried(
        of=of,
        id=part.id,
        details=part.provider_details,
        url=wire.provider_url,
        system=wire.canonical_system,
    )
    if not carried.empty:
        yield Thinking(text="", signature=pack(carried), provider=part.provider_name)


def _call(part: ToolCallPart, taken: set[str]) -> ToolCall:
    arguments, malformed = parsed_arguments(part.args)
    return ToolCall(
        id=distinct_id(repair_text(part.tool_call_id), taken),
        name=repair_text(part.tool_name),
        arguments=arguments,
        malformed=malformed,
    )


def parsed_arguments(written: str | dict[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    """The arguments a model wrote, and their text if that is no JSON object."""
    if not written:
        return {}, None
    if isinstance(written, dict):
        return repair(written), None
    try:
        value = json.loads(written, parse_constant=_refused)
    except (ValueError, RecursionError):
        return {}, repair_text(written)
    if not isinstance(value, dict) or _deeper(value, ARGUMENTS_DEPTH_MAX):
        return {}, repair_text(written)
    return repair(value), None


def _deeper(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        return levels == 0 or any(_deeper(item, levels - 1) for item in value.values())
    if isinstance(value, list):
        return levels == 0 or any(_deeper(item, levels - 1) for item in value)
    return False


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _media(content: BinaryContent, blobs: dict[str, bytes]) -> Media:
    digest = hashlib.sha256(content.data).hexdigest()
    blobs[digest] = content.data
    return Media(mime=content.media_type, blob=digest)
