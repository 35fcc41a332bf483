"""Media of a conversation as the files a provider is sent, or as a note in their place.

Rule: a file must not poison its thread. It stays in the conversation for good, so one that is gone, or that
a model cannot take, becomes a few words instead of an error in every turn to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ToolReturnPart,
    UserPromptPart,
    VideoUrl,
)

from turnwright.journal.messages import Media

File: TypeAlias = ImageUrl | AudioUrl | VideoUrl | DocumentUrl | BinaryContent
_URLS: Final[dict[str, type[ImageUrl | AudioUrl | VideoUrl]]] = {
    "image": ImageUrl,
    "audio": AudioUrl,
    "video": VideoUrl,
}


def file_of(block: Media, blobs: Mapping[str, bytes]) -> File | str:
    """The file of a media block, or a note if its bytes are gone or cannot be read."""
    if block.blob is not None and block.blob in blobs:
        return BinaryContent(data=blobs[block.blob], media_type=block.mime)
    if block.url is None:
        return f"[{block.mime}: the file is no longer stored]"
    if block.url.startswith("data:"):
        return _inline_file(block)
    kind = _URLS.get(block.mime.partition("/")[0], DocumentUrl)
    return kind(url=block.url, media_type=block.mime)


def _inline_file(block: Media) -> BinaryContent | str:
    try:
        return BinaryContent.from_data_uri(block.url or "")
    except ValueError:
        return f"[{block.mime}: the data URL of the file cannot be read]"


def has_files(messages: Iterable[ModelMessage]) -> bool:
    """Whether a request of the conversation holds a file."""
    parts = (part for message in messages if isinstance(message, ModelRequest) for part in message.parts)
    return any(_is_file(item) for part in parts for item in _items(part))


def without_files(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The conversation with a note in place of every file."""
    return [
        replace(message, parts=[_noted(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _noted(part: ModelRequestPart) -> ModelRequestPart:
    if not any(map(_is_file, _items(part))):
        return part
    words = "\n".join(_note(item) if _is_file(item) else str(item) for item in _items(part))
    if isinstance(part, UserPromptPart):
        return UserPromptPart(content=words)
    assert isinstance(part, ToolReturnPart)
    return ToolReturnPart(part.tool_name, words, part.tool_call_id, outcome=part.outcome)


def _items(part: ModelRequestPart) -> Sequence[object]:
    if not isinstance(part, UserPromptPart | ToolReturnPart):
        return ()
    return part.content if isinstance(part.content, list | tuple) else (part.content,)


def _is_file(item: object) -> bool:
    return isinstance(item, File)


def _note(item: object) -> str:
    return f"[{getattr(item, 'media_type', 'file')}: this model cannot take the file, so it was left out]"
