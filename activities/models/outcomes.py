"""How the result of a call reads to the model.

Rule: what is stored is what happened; what the model reads says in words what that means for it, so
that a denial is not mistaken for a missing permission and a lost result not for a failure.
"""

from __future__ import annotations

from turnwright.journal.messages import Media, Outcome, Text, ToolResult

NO_OUTPUT = "(no output)"

# Said before the result's own words, which follow on a line of their own.
_OPENINGS: dict[Outcome, str] = {
    "denied": (
        "Not run: a person decided that this call should not run. That is their choice, not a missing "
        "permission and not a fault. Do not make this call again unless you are asked to."
    ),
    "interrupted": (
        "Interrupted: the call was stopped before it gave a result. It may have taken effect in part; "
        "check before you repeat it."
    ),
    "unknown": (
        "Outcome unknown: the call was made and its result was lost. It may or may not have taken effect; "
        "check before you repeat it."
    ),
}


def words(result: ToolResult) -> str:
    """The text of a result as the model reads it, without its media."""
    said = "\n".join(block.text for block in result.output if isinstance(block, Text))
    opening = _OPENINGS.get(result.outcome)
    if opening is None:
        return said or ("" if media(result) else NO_OUTPUT)
    return f"{opening}\n{said}" if said else opening


def media(result: ToolResult) -> tuple[Media, ...]:
    """The media of a result."""
    return tuple(block for block in result.output if isinstance(block, Media))
