"""Rules and their text: `refund`, `refund(amount=1*)`, `shell(prefix:git status)`, `edit(path:src/**)`.

Rule: a rule is checked where a person writes it, and said clearly what is wrong. One that is stored always loads; if
its pattern cannot be read, it grants nothing and still denies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from turnwright.journal.canonical import repair_text
from turnwright.journal.errors import InvalidInput
from turnwright.journal.state_parts import Rule

RULE_CHARACTERS_MAX: Final = 500
SOURCE_CHARACTERS_MAX: Final = 200
RULES_MAX: Final = 200

_TOOL = re.compile(r"[A-Za-z0-9_.:*-]{1,100}")
_ARGUMENT = re.compile(r"(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)=(?P<glob>.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
_FORMS = "write argument=glob, prefix:command words or path:glob, such as refund(amount=1*), or the tool's name alone"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read: `parts` are the argument's nested name, the command's words or the path's folders."""

    kind: Literal["argument", "prefix", "path"]
    parts: tuple[str, ...]
    glob: str = ""
    absolute: bool = False


def parse_rule(text: str, source: str = "") -> Rule:
    """The rule a text stands for; `source` says who set it.

    Raises:
        InvalidInput: it is no rule; says what is wrong with it and what to write.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"a rule is a text such as 'refund(amount=1*)', got {text!r}")
    tool, bracket, rest = text.strip().partition("(")
    if bracket and not rest.endswith(")"):
        raise InvalidInput(f"rule {_shown(text)}: the bracket after {tool!r} is not closed at the end; add ')'")
    return checked_rule(Rule(tool=tool, pattern=rest[:-1] if bracket else None, source=source))


def rule_text(rule: Rule) -> str:
    """The rule as text; `parse_rule` gives it back."""
    return rule.tool if rule.pattern is None else f"{rule.tool}({rule.pattern})"


def checked_rule(rule: Rule) -> Rule:
    """The rule itself, if it is one that can be kept.

    Raises:
        InvalidInput: it is not; says what is wrong with it and what to write.
    """
    text = rule_text(rule)
    if len(text) > RULE_CHARACTERS_MAX:
        raise InvalidInput(f"rule {_shown(text)} has {len(text)} characters, {RULE_CHARACTERS_MAX} are the most")
    if len(rule.source) > SOURCE_CHARACTERS_MAX:
        raise InvalidInput(f"rule {_shown(text)}: its source is longer than {SOURCE_CHARACTERS_MAX} characters")
    if _CONTROL.search(text) or repair_text(text) != text or repair_text(rule.source) != rule.source:
        raise InvalidInput(f"rule {_shown(text)} holds control characters or half a character; remove them")
    if not _TOOL.fullmatch(rule.tool):
        raise InvalidInput(
            f"rule {_shown(text)}: {rule.tool!r} is no tool name; write 1 to 100 letters, digits, '_', '-', '.' "
            "or ':', with '*' for any"
        )
    if rule.pattern is not None:
        read_pattern(rule.pattern)
    return rule


@lru_cache(maxsize=2_048)
def read_pattern(pattern: str) -> Pattern:
    """What a pattern says.

    Raises:
        InvalidInput: nothing that can be read; says what to write.
    """
    kind, colon, rest = pattern.partition(":")
    if colon and kind == "prefix":
        return _prefix(rest)
    if colon and kind == "path":
        return _path(rest)
    argument = _ARGUMENT.fullmatch(pattern)
    if argument is None:
        raise InvalidInput(f"pattern {_shown(pattern)} cannot be read; {_FORMS}")
    return Pattern("argument", tuple(argument["name"].split(".")), argument["glob"])


def _prefix(text: str) -> Pattern:
    words = tuple(text.split())
    if not words:
        raise InvalidInput("pattern 'prefix:' names no command; write its first words, such as prefix:git status")
    if any(char in text for char in "\"'`$;&|<>()"):
        raise InvalidInput(
            f"pattern {_shown('prefix:' + text)} is more than the first words of one command; "
            "leave out quotes, '$' and what joins or redirects commands"
        )
    return Pattern("prefix", words)


def _path(text: str) -> Pattern:
    absolute = text.startswith("/")
    parts = tuple((text[1:] if absolute else text).split("/"))
    if text.startswith("~"):
        raise InvalidInput(f"pattern {_shown('path:' + text)}: whose home '~' is differs; write the absolute path")
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidInput(
            f"pattern {_shown('path:' + text)} holds an empty folder name, '.' or '..'; write the path without them, "
            "and folder/** for what lies in a folder"
        )
    return Pattern("path", parts, absolute=absolute)


def _shown(text: str) -> str:
    return repr(text if len(text) <= RULE_CHARACTERS_MAX else f"{text[:RULE_CHARACTERS_MAX]}…")
