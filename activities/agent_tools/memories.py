"""The thread's memory document, written by the agent.

Rule: the document is written as a whole, so what the model sees in its requests is what is kept.
"""

from __future__ import annotations

from turnwright.activities.tool_results import Changed
from turnwright.activities.tools import tool
from turnwright.journal.state_ops import WriteMemory


@tool(effect="read")
async def memory_write(document: str, expected_revision: int | None = None) -> Changed:
    """Write what you are to remember, replacing all that was remembered before; you see it in every later request.

    Keep what will matter when this conversation is long gone: wishes, decisions, names, facts about the user. Leave
    out what only matters now.

    Args:
        document: The whole document, short, in Markdown.
        expected_revision: The revision you saw; the write is refused if the document has changed since.
    """
    op = WriteMemory(document=document, expected_revision=expected_revision)
    return Changed(op, says=f"It is remembered: {len(document)} characters.")
