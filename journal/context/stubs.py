"""What stands in place of a tool result that gave way: its beginning and end, and how to read all of it.

Rule: a stub is shorter than anything it may stand for, so none ever gives way to another.
"""

from __future__ import annotations

from typing import Final

from turnwright.journal.messages import Text, ToolResult

READ_RESULT: Final = "read_result"  # the tool that reads it back
SHOWN_CHARACTERS: Final = 300
STUB_CHARACTERS_MAX: Final = 1_000


def text_of(result: ToolResult) -> str:
    """All of a result's text."""
    return "\n".join(block.text for block in result.output if isinstance(block, Text))


def stub_of(result: ToolResult, *, readable: bool) -> str:
    """What stands in place of the result; `readable`: the agent has the tool that reads it back."""
    text = text_of(result)
    how = f" To read them: {READ_RESULT}(call_id={result.id!r}, start=0)." if readable else ""
    return (
        f"[{len(text):,} characters were set aside to make room.{how}]\n"
        f"{text[:SHOWN_CHARACTERS]}\n[…]\n{text[-SHOWN_CHARACTERS:]}"
    )
