"""What a model is told when a call goes wrong.

Rule: enough to do better next time, and nothing else. Tracebacks go to the log; values of the worker's
own secrets are cut out wherever they stand.
"""

from __future__ import annotations

import os
import re
import traceback
from typing import Final

from pydantic import ValidationError

from turnwright.journal.canonical import repair_text
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.messages import ToolCall

MESSAGE_CHARACTERS_MAX: Final = 4_000
TRACEBACK_CHARACTERS_MAX: Final = 8_000
TRACEBACK_FRAMES_MAX: Final = 20
_INPUT_CHARACTERS_MAX = 100
_PROBLEMS_MAX = 20
_SECRET_CHARACTERS_MIN = 8
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DSN", re.IGNORECASE)
_PASSWORD_IN_URL = re.compile(r"(?P<start>://[^\s:/@]{0,100}:)[^\s/@]{1,200}(?=@)")
_HIDDEN = "***"


class ToolError(TurnwrightError):
    """Raised by a tool to tell the model, in plain words, why the call failed."""


class OutcomeUnknown(TurnwrightError):
    """Raised by a tool whose call was made and got no answer: nobody knows whether it took effect.

    A `once` call is then settled as if its worker had died: its `reconcile` hook is asked, or a person. Any other is
    made again.
    """


def told(error: BaseException) -> str:
    """What the model reads about an exception of a tool: its class and message, or a ToolError's words alone."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception whose own text fails still has a class
        message = ""
    name = type(error).__name__
    text = message if isinstance(error, ToolError) and message else f"{name}: {message}" if message else name
    # Cut twice: a secret that the first cut splits lies beyond the second.
    return bounded(without_secrets(text[: 2 * MESSAGE_CHARACTERS_MAX]))


def traced(error: BaseException) -> str:
    """The end of an exception's traceback, for the log; a renderer that was given the exception itself took
    most of a minute over a message of 100,000 characters.
    """
    lines = "".join(traceback.format_exception(error, limit=-TRACEBACK_FRAMES_MAX))
    return repair_text(lines[-TRACEBACK_CHARACTERS_MAX:])


def bounded(text: str, characters_max: int = MESSAGE_CHARACTERS_MAX) -> str:
    """The text in storable characters, cut where it becomes too long to help."""
    repaired = repair_text(text)
    return repaired if len(repaired) <= characters_max else f"{repaired[:characters_max]}…"


def without_secrets(text: str) -> str:
    """The text without passwords in URLs and without values of the environment's secrets."""
    text = _PASSWORD_IN_URL.sub(rf"\g<start>{_HIDDEN}", text)
    for name, value in os.environ.items():
        if len(value) >= _SECRET_CHARACTERS_MIN and _SECRET_NAME.search(name):
            text = text.replace(value, _HIDDEN)
    return text


def malformed(call: ToolCall) -> str:
    """What the model reads about arguments that were no JSON object."""
    written = (call.malformed or "")[:_INPUT_CHARACTERS_MAX]
    return bounded(
        f"The call was not made: its arguments are not a JSON object ({written!r}…). Write one that fits the "
        f"schema of {call.name}, and call again."
    )


def unfit(tool: str, error: ValidationError) -> str:
    """What the model reads about arguments that do not fit the schema: each problem on a line."""
    problems = error.errors(include_url=False, include_context=False)
    lines = [f"- {_place(problem['loc'])}: {problem['msg']}{_given(problem)}" for problem in problems[:_PROBLEMS_MAX]]
    if len(problems) > _PROBLEMS_MAX:
        lines.append(f"- and {len(problems) - _PROBLEMS_MAX} more")
    return bounded("\n".join([f"The call was not made: its arguments do not fit the schema of {tool}.", *lines]))


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "arguments"


def _given(problem: object) -> str:
    if not isinstance(problem, dict) or problem.get("type") in ("missing", "missing_argument"):
        return ""
    return f" (got {repr(problem.get('input'))[:_INPUT_CHARACTERS_MAX]})"
