"""What a tool's docstring tells the model: what the tool does, and what each argument means.

Rule: Google style. The text before the first section is the description; `Args:` describes arguments;
other sections are for people who read the code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_SECTION = re.compile(r"^[A-Z][A-Za-z ]*:$")
_ARGUMENT_SECTIONS = frozenset({"Args:", "Arguments:", "Parameters:"})
_ARGUMENT = re.compile(r"^(?P<indent> +)(?P<name>\*{0,2}\w+)(?: *\([^)]*\))?: *(?P<text>.*)$")


@dataclass(frozen=True, slots=True)
class Described:
    """A docstring's description and its descriptions of arguments."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


def described(function: Any) -> Described:  # noqa: ANN401 - any callable
    """The docstring of a function, taken apart."""
    text = inspect.getdoc(function)
    if not text:
        return Described()
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if _SECTION.match(line)), len(lines))
    return Described("\n".join(lines[:first]).strip(), dict(_arguments(_argument_lines(lines[first:]))))


def _argument_lines(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line and not line.startswith(" "):
            inside = line in _ARGUMENT_SECTIONS
        elif inside and line.strip():
            yield line


def _arguments(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    # A deeper line goes on with the description of the argument above it.
    name, words, indent = "", "", 0
    for line in lines:
        found = _ARGUMENT.match(line)
        if found is not None and (not name or len(found["indent"]) <= indent):
            if name:
                yield name, words
            name, words, indent = found["name"].lstrip("*"), found["text"], len(found["indent"])
        else:
            words = f"{words} {line.strip()}".strip()
    if name:
        yield name, words
