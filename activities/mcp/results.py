"""What a server returns from a call, as a tool's output.

Rule: nothing it returned is lost: structured content that the text does not repeat is added as JSON. An error of the
tool is an error the model reads.
"""

from __future__ import annotations

import base64
import binascii
import json

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_output import UNKNOWN_MIME, Attachment, Part, ToolOutput
from turnwright.journal.canonical import encode, repair

NO_WORDS = "The tool failed and did not say why."


def output_of(result: CallToolResult) -> ToolOutput | None:
    """The output.

    Raises:
        ToolError: the server says that the call failed.
    """
    parts = [part for block in result.content if (part := _part(block)) is not None]
    if result.is_error:
        raise ToolError("\n".join(part for part in parts if isinstance(part, str)) or NO_WORDS)
    structured = result.structured_content
    if structured is not None and not any(isinstance(part, str) and _says(part, structured) for part in parts):
        parts.append(encode(repair(structured)).decode())
    return ToolOutput(*parts) if parts else None


def _part(block: ContentBlock) -> Part | None:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return _file(block.data, block.mime_type)
        case ResourceLink():
            return f"[{block.name}: {block.uri}]"
        case EmbeddedResource(resource=TextResourceContents() as text):
            return f"[{text.uri}]\n{text.text}"
        case EmbeddedResource(resource=BlobResourceContents() as file):
            return _file(file.blob, file.mime_type)
        case _:
            return None


def _file(data: str, mime: str | None) -> Part:
    try:
        return Attachment(base64.b64decode(data, validate=True), mime or UNKNOWN_MIME)
    except (binascii.Error, ValueError):
        return "[a file that was not sent whole]"


def _says(text: str, structured: object) -> bool:
    """Whether a text repeats the structured content, as servers do for clients that know only text."""
    if structured == {"result": text}:
        return True
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return structured in (said, {"result": said})
