"""How the result of a call reads to the model.

Rule: the model reads in words what became of its call, so that a denial is not mistaken for a fault
and a lost result not for a failure. A result's own words come first; without any, ours stand in.
"""

from __future__ import annotations

from turnwright.journal.messages import Media, Outcome, Text, ToolResult
from turnwright.journal.view import DENIED_VIEW

NO_OUTPUT = "(no output)"

_CHECK = "check before you repeat it."
# What happened, and what to say when the result says nothing itself.
_WORDS: dict[Outcome, tuple[str, str]] = {
    "denied": ("Not run", DENIED_VIEW),
    "interrupted": ("Interrupted", f"the call was stopped early and may have taken effect in part; {_CHECK}"),
    "unknown": ("Outcome unknown", f"the call was made and may or may not have taken effect; {_CHECK}"),
}


def words(result: ToolResult) -> str:
    """The text of a result as the model reads it, without its media."""
    said = "\n".join(block.text for block in result.output if isinstance(block, Text))
    if result.outcome in _WORDS:
        happened, otherwise = _WORDS[result.outcome]
        return f"{happened}: {said or otherwise}"
    return said or ("" if media(result) else NO_OUTPUT)


def media(result: ToolResult) -> tuple[Media, ...]:
    """The media of a result."""
    return tuple(block for block in result.output if isinstance(block, Media))
