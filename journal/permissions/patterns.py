"""Whether a rule is about a call.

Rule: for a rule that allows (`granting`), every part of the call must match: each path, each command of a chain, each
value. For one that denies or asks, one part is enough, and what cannot be understood counts as one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.call import MISSING, CallSeen
from turnwright.journal.permissions.globs import folded, glob_matches
from turnwright.journal.permissions.places import Places
from turnwright.journal.permissions.rules import Pattern, read_pattern
from turnwright.journal.permissions.shell import Words, may_follow, plain_commands, possible_commands, program_of
from turnwright.journal.state_parts import Rule

# A longer text is not read: hundreds of rules are compared with it while the thread waits.
VALUE_CHARACTERS_MAX: Final = 100_000
_EXPANDS = re.compile(r"[$`*?\[{]")
_PLAIN_ALTHOUGH = frozenset({"[", "[[", "{}"})


def matches(rule: Rule, call: CallSeen, *, granting: bool, directories: tuple[str, ...] = ()) -> bool:
    """Whether the rule is about this call; `directories` are the working directories, for paths relative to them."""
    return first_match((rule,), call, Places.of(call, directories), granting=granting) is not None


def first_match(rules: Iterable[Rule], call: CallSeen, places: Places, *, granting: bool) -> Rule | None:
    """The first of the rules that is about the call; none allows one whose paths lead nobody knows where."""
    if granting and call.unlocated:
        return None
    return next((rule for rule in rules if _is_about(rule, call, places, granting=granting)), None)


def heeds_paths(rule: Rule, call: CallSeen) -> bool:
    """Whether it depends on the call's paths if a rule that denies or asks is about it."""
    if rule.pattern is None or not glob_matches(rule.tool, call.tool, broad=True):
        return False
    try:
        return read_pattern(rule.pattern).kind == "path"
    except InvalidInput:
        return False


def _is_about(rule: Rule, call: CallSeen, places: Places, *, granting: bool) -> bool:
    if not glob_matches(rule.tool, call.tool, broad=not granting):
        return False
    if rule.pattern is None:
        return True
    try:
        pattern = read_pattern(rule.pattern)
    except InvalidInput:
        return not granting
    match pattern.kind:
        case "argument":
            return _argument_matches(pattern, call, granting=granting)
        case "prefix":
            return _command_matches(pattern, call, granting=granting)
        case "path":
            return places.all_lie(pattern) if granting else places.any_touches(pattern)


def _argument_matches(pattern: Pattern, call: CallSeen, *, granting: bool) -> bool:
    values = call.values(pattern.parts)
    if granting:
        known = all(value is not MISSING and value != [] for value in values)
        texts = [text for value in values for text in _texts(value)] if known else []
        return bool(texts) and all(not _too_long(text) and glob_matches(pattern.glob, text) for text in texts)
    found = (text for value in values if value is not MISSING for text in _every_text(value))
    return any(_too_long(text) or glob_matches(pattern.glob, text, broad=True) for text in found)


def _too_long(text: str) -> bool:
    """Whether the text is not read; one sign of Unicode can stand for eighteen."""
    return len(text) > VALUE_CHARACTERS_MAX or len(folded(text)) > VALUE_CHARACTERS_MAX


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """A value as text; a list is the texts of its items."""
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case float() if value.is_integer():
            yield str(int(value))
        case _:
            yield json.dumps(value, ensure_ascii=False, sort_keys=True)


def _every_text(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """A value and everything in it as text."""
    yield from _texts(value)
    match value:
        case str():
            yield value.strip()
        case list() | tuple():
            yield json.dumps(value, ensure_ascii=False, sort_keys=True)
        case dict():
            for item in value.values():
                yield from _every_text(item)
        case _:
            return


def _command_matches(pattern: Pattern, call: CallSeen, *, granting: bool) -> bool:
    lines = call.command_lines
    if granting:
        return bool(lines) and all(line is not None and _granted(pattern.parts, line) for line in lines)
    return any(line is None or _touched(pattern.parts, line) for line in lines)


def _granted(prefix: Words, line: str) -> bool:
    commands = plain_commands(line)
    return commands is not None and all(_begins(prefix, words) for words in commands)


def _begins(prefix: Words, words: Words) -> bool:
    if len(words) < len(prefix):
        return False
    return all(glob_matches(want, word) for want, word in zip(prefix, words, strict=False))


def _touched(prefix: Words, line: str) -> bool:
    commands = possible_commands(line)
    return commands is None or any(_may_begin_with(prefix, words) for words in commands)


def _may_begin_with(prefix: Words, words: Words) -> bool:
    """Whether the command may be the one meant: options may stand between its words, expansions may become anything."""
    reached = [0] if _may_be(prefix[0], program_of(words[0])) or _may_be(prefix[0], words[0]) else []
    unknown = bool(reached) and _expands(words[0])
    for want in prefix[1:]:
        reached = [at for at in may_follow(words, reached) if _may_be(want, words[at])]
        unknown = unknown or any(_expands(words[at]) for at in reached)
    return bool(reached) or unknown


def _may_be(want: str, word: str) -> bool:
    return _expands(word) or glob_matches(want, word, broad=True)


def _expands(word: str) -> bool:
    return word not in _PLAIN_ALTHOUGH and _EXPANDS.search(word) is not None
