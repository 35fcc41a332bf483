"""Questions of the model to the user.

Rule: the answer is the result of the call. Until it comes the turn waits, and nothing runs for it.
"""

from __future__ import annotations

from typing import Any, Final

from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_results import Question
from turnwright.activities.tools import tool

CHOICES_MAX: Final = 50


@tool(effect="read")
async def ask_user(question: str, choices: list[str] | None = None) -> Question:
    """Ask the user something that only they can know or decide, and wait for the answer.

    Args:
        question: The question, with what the user needs to answer it.
        choices: The answers to choose from; leave it out for an answer in the user's own words.
    """
    answer: dict[str, Any] = {"type": "string", "minLength": 1}
    if choices is not None:
        answer = {"type": "string", "enum": _checked(choices)}
    schema = {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return Question(question, schema)


def _checked(choices: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(choice.strip() for choice in choices))
    if len(distinct) < 2 or "" in distinct or len(distinct) > CHOICES_MAX:  # noqa: PLR2004 - one is no choice
        raise ToolError(f"Not asked: give 2 to {CHOICES_MAX} different choices, none of them empty, or none at all.")
    return distinct
