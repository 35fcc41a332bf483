"""What a tool of pydantic-ai returns, as a tool's output here."""

from __future__ import annotations

from typing import Any

from pydantic_ai.messages import BinaryContent, FileUrl, TextContent, ToolReturn

from turnwright.activities.tool_output import Attachment, ToolOutput
from turnwright.journal.messages import Media


def returned(value: Any) -> Any:  # noqa: ANN401 - what a tool returns
    """The output; files are kept as files, and what was to be said beside the result is said after it."""
    if isinstance(value, ToolReturn):
        beside = value.content
        extra = [] if beside is None else [beside] if isinstance(beside, str) else list(beside)
        return ToolOutput(*_parts(value.return_value), *(part for one in extra for part in _parts(one)))
    parts = _parts(value)
    return parts[0] if len(parts) == 1 else ToolOutput(*parts)


def _parts(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    if isinstance(value, list | tuple) and any(isinstance(one, BinaryContent | FileUrl) for one in value):
        return [part for one in value for part in _parts(one)]
    match value:
        case BinaryContent():
            return [Attachment(value.data, value.media_type)]
        case FileUrl():
            return [Media(mime=value.media_type, url=value.url)]
        case TextContent():
            return [value.content]
        case _:
            return [value]
