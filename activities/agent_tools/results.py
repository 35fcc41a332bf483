"""Results of calls that gave way to a stub because the conversation had become too long, read back in parts."""

from __future__ import annotations

from typing import Final

from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tools import tool

PART_CHARACTERS: Final = 6_000


@tool(effect="read")
async def read_result(ctx: ToolContext, call_id: str, start: int = 0) -> str:
    """Read a part of a result that was set aside to make room in the conversation.

    Args:
        ctx: Of the call.
        call_id: The id that stands where the result was.
        start: The character to begin with.
    """
    text = None if ctx.results is None else await ctx.results(call_id)
    if text is None:
        raise ToolError(f"The conversation has no result of {call_id!r} that was set aside.")
    if not 0 <= start < max(1, len(text)):
        raise ToolError(f"The result has {len(text)} characters; start must be one of them, counted from 0.")
    end = start + PART_CHARACTERS
    rest = len(text) - end
    return text[start:end] + (f"\n[{rest} characters follow, from start={end} on]" if rest > 0 else "")
