"""Whether a rule is about a call.

Rule: for a rule that allows (`granting`), every part of the call must match: each path, each command of a chain, each
value. For one that denies or asks, one part is enough, and what cannot be understood counts as one.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final

from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.call import MISSING, CallSeen, PathSeen
from turnwright.journal.permissions.globs import ANY_FOLDERS, folded, folders_match, glob_matches
from turnwright.journal.permissions.rules import Pattern, read_pattern
from turnwright.journal.permissions.shell import Words, may_follow, plain_commands, possible_commands, program_of
from turnwright.journal.state_parts import Rule

# A longer text is not read: hundreds of rules are compared with it while the thread waits.
VALUE_CHARACTERS_MAX: Final = 100_000
_EXPANDS = re.compile(r"[$`*?\[{]")
_PLAIN_ALTHOUGH = frozenset({"[", "[[", "{}"})


def matches(rule: Rule, call: CallSeen, *, granting: bool, directories: tuple[str, ...] = ()) -> bool:
    """Whether the rule is about this call; `directories` are the working directories, for paths relative to them."""
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
        case "path" if granting:
            return _paths_granted(pattern, call, directories)
        case "path":
            return any(_path_touched(pattern, seen, directories) for seen in call.located)


def inside(call: CallSeen, directories: tuple[str, ...]) -> bool:
    """Whether the call has paths and all of them really lie in the working directories."""
    located = call.located
    return bool(located) and all(any(_below(seen, place) for place in _real(call, directories)) for seen in located)


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


def _paths_granted(pattern: Pattern, call: CallSeen, directories: tuple[str, ...]) -> bool:
    located = call.located
    bases = ("/",) if pattern.absolute else _real(call, directories)
    return bool(located) and all(any(_lies(pattern, seen, base) for base in bases) for seen in located)


def _lies(pattern: Pattern, seen: PathSeen, base: str) -> bool:
    """Whether the real path, seen from the base, is what the glob describes."""
    if seen.real is None or not _below(seen, base):
        return False
    return folders_match(pattern.parts, _parts(posixpath.relpath(seen.real, base)))


def _path_touched(pattern: Pattern, seen: PathSeen, directories: tuple[str, ...]) -> bool:
    """Whether the path may be one the glob describes: as written or as it really is, and a relative glob anywhere."""
    if seen.written is None or "\0" in seen.written:
        return True
    written = _absolute(seen.written, directories)
    if pattern.absolute:
        places = [place for place in (written, seen.real) if place is not None]
        return not places or any(folders_match(pattern.parts, _parts(place), broad=True) for place in places)
    places = [written or posixpath.normpath(seen.written), seen.real or ""]
    anywhere = (ANY_FOLDERS, *pattern.parts)
    return any(folders_match(anywhere, _parts(place), broad=True) for place in places)


def _absolute(path: str, directories: tuple[str, ...]) -> str | None:
    """The path made absolute by its text alone, if that can be done."""
    if path.startswith("/"):
        return _normal(path)
    if path.startswith("~") or not directories:
        return None
    return _normal(posixpath.join(directories[0], path))


def _normal(path: str) -> str:
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _real(call: CallSeen, directories: tuple[str, ...]) -> tuple[str, ...]:
    """The real paths of the working directories that are known."""
    known = call.facts.directories
    return tuple(known[name] for name in directories if name in known)


def _below(seen: PathSeen, place: str) -> bool:
    if seen.real is None or not seen.real.startswith("/") or not place.startswith("/"):
        return False
    if posixpath.normpath(seen.real) != seen.real:
        return False
    return posixpath.commonpath((seen.real, place)) == posixpath.normpath(place)
