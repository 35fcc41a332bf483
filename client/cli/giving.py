"""Structured values on the command line: JSON in place, from a file, or from standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from turnwright.journal.errors import InvalidInput


def given_json(option: str, text: str) -> Any:  # noqa: ANN401 - it is what was given
    """The JSON value that an option says: itself, `@file`, or `-` for standard input.

    Raises:
        InvalidInput: it is no JSON.
        OSError: there is no such file.
    """
    told = given_text(text)
    try:
        return json.loads(told)
    except ValueError as error:
        raise InvalidInput(f"{option} is no JSON ({error}); write it in quotes, or in a file: {option} @file") from None


def given_object(option: str, text: str) -> dict[str, Any]:
    """The JSON object that an option says. Raises as `given_json`."""
    value = given_json(option, text)
    if not isinstance(value, dict):
        raise InvalidInput(f'{option} is no object; write names and values, such as {{"name": "value"}}')
    return value


def given_text(text: str) -> str:
    """What an option says: itself, the content of `@file`, or standard input for `-`."""
    if text == "-":
        return sys.stdin.read()
    return Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
