"""What a tool returns, as blocks the journal can hold.

Rule: text stays text, bytes become media, anything else becomes canonical JSON. What cannot be one of
these, or is too large, fails that one call and nothing more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from turnwright.activities.jsonable import jsonable
from turnwright.journal.canonical import encode, repair_text
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.messages import Media, Text

OUTPUT_BYTES_MAX: Final = 32 * 1024 * 1024
UNKNOWN_MIME: Final = "application/octet-stream"


class OutputRefused(TurnwrightError):
    """A tool's output that cannot be kept; the message tells the model why."""


class Beside:
    """Base of what a tool returns beside output, or in place of it; it is never a part of an output."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file a tool returns: its bytes and their media type."""

    data: bytes
    mime: str = UNKNOWN_MIME


Part: TypeAlias = str | Text | Media | Attachment


@dataclass(frozen=True, slots=True, init=False)
class ToolOutput:
    """Several parts in one result: `ToolOutput("The chart:", Attachment(png, "image/png"))`."""

    parts: tuple[Part, ...]

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", parts)


@dataclass(frozen=True, slots=True)
class Converted:
    """Blocks of an output, and the bytes of its media by their SHA-256."""

    blocks: tuple[Text | Media, ...] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)


def converted(value: Any, bytes_max: int = OUTPUT_BYTES_MAX) -> Converted:  # noqa: ANN401 - what a tool returned
    """What a tool returned, as blocks; None is no output at all.

    Raises:
        OutputRefused: it is too large, or no JSON value.
    """
    if value is None:
        return Converted()
    parts = value.parts if isinstance(value, ToolOutput) else (value,)
    blobs: dict[str, bytes] = {}
    left, blocks = bytes_max, []
    for part in parts:
        block, size = _block(part, left, blobs)
        if size > left:
            raise OutputRefused(
                f"the tool ran, but its output is larger than {bytes_max} bytes and was not kept; ask for less of it"
            )
        left -= size
        blocks.append(block)
    return Converted(tuple(blocks), blobs)


def _block(part: Any, bytes_max: int, blobs: dict[str, bytes]) -> tuple[Text | Media, int]:  # noqa: ANN401
    match part:
        case Text():
            return _text(part.text, bytes_max)
        case str():
            return _text(part, bytes_max)
        case Media():
            return part, len(part.url or "")
        case Attachment():
            return _media(part, bytes_max, blobs)
        case Beside():
            raise OutputRefused(f"{type(part).__name__} is no output: a tool returns it by itself, from its body")
        case bytes() | bytearray() | memoryview():
            return _media(Attachment(bytes(part)), bytes_max, blobs)
        case _:
            return _text(_json(part), bytes_max)


def _text(text: str, bytes_max: int) -> tuple[Text, int]:
    if len(text) > bytes_max:
        return Text(text=""), len(text)
    repaired = repair_text(text)
    return Text(text=repaired), len(repaired.encode())


def _media(file: Attachment, bytes_max: int, blobs: dict[str, bytes]) -> tuple[Media, int]:
    if len(file.data) > bytes_max:
        return Media(mime=file.mime), len(file.data)
    digest = hashlib.sha256(file.data).hexdigest()
    blobs[digest] = file.data
    return Media(mime=file.mime, blob=digest), len(file.data)


def _json(value: Any) -> str:  # noqa: ANN401 - any value
    try:
        return encode(jsonable(value)).decode()
    except (ValueError, TypeError, RecursionError) as error:
        raise OutputRefused(
            f"the tool ran, but what it returned ({type(value).__name__}) cannot be kept: it is no JSON value"
        ) from error
