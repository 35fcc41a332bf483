"""What "always allow" could mean for a call: rules that would have allowed it, the narrowest first.

Rule: each suggestion allows this very call, and is understood before it is accepted: a person reads it. A program that
runs other programs (`sudo`, `bash`) is not suggested by its name alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.globs import glob_matches, literal
from turnwright.journal.permissions.patterns import heeds_paths, matches
from turnwright.journal.permissions.rules import parse_rule, read_pattern
from turnwright.journal.permissions.shell import WRAPPERS, Words, plain_commands, program_of
from turnwright.journal.state_parts import PermissionState, Rule

SUGGESTIONS_MAX: Final = 5
VALUE_CHARACTERS_MAX: Final = 80
_NAMED_MAX = 2
_NAME = re.compile(r"[^\W\d]\w*")
_INTERPRETERS = frozenset({
    "awk", "bun", "deno", "find", "gawk", "lua", "make", "mawk", "node", "nodejs", "npx", "perl", "php", "pwsh",
    "python", "ruby", "tclsh",
})  # fmt: skip
_VERSION = re.compile(r"[\d.]+$")


def suggestions(call: CallSeen, directories: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Texts of rules that would allow the call; `directories` are the working directories, else those of the facts."""
    places = tuple(call.facts.directories) if directories is None else directories
    texts = (*_named(call), *_prefixes(call), *_folders(call, places), call.tool)
    allowing = (text for text in dict.fromkeys(texts) if _allows(text, call, places))
    return tuple(allowing)[:SUGGESTIONS_MAX]


def may_cover(rule: Rule, call: CallSeen, permissions: PermissionState, *, granting: bool) -> bool:
    """Whether a rule that a person adds for a call is about it, as far as can be told without a worker.

    Where a path leads, and what the tool takes for an argument that is left out, is not known here: then it may be.
    """
    directories = permissions.working_directories
    if not granting or heeds_paths(rule, call):
        return _left_out(rule, call) or matches(rule, call, granting=False, directories=directories)
    return _left_out(rule, call) or matches(rule, replace(call, paths=()), granting=True, directories=directories)


def _left_out(rule: Rule, call: CallSeen) -> bool:
    """Whether the rule is about an argument of this tool that the model left out."""
    if rule.pattern is None or not glob_matches(rule.tool, call.tool, broad=True):
        return False
    pattern = read_pattern(rule.pattern)
    return pattern.kind == "argument" and pattern.parts[0] not in call.arguments


def _allows(text: str, call: CallSeen, directories: tuple[str, ...]) -> bool:
    try:
        rule = parse_rule(text)
    except InvalidInput:
        return False
    return matches(rule, call, granting=True, directories=directories)


def _named(call: CallSeen) -> Iterator[str]:
    """Single arguments, with the value they have."""
    plain = [
        f"{call.tool}({name}={literal(_text(value))})"
        for name, value in call.arguments.items()
        if name not in call.paths and name != call.command and _NAME.fullmatch(name)
        if isinstance(value, str | int | float) and len(str(value)) <= VALUE_CHARACTERS_MAX
    ]
    yield from plain[:_NAMED_MAX]


def _text(value: str | float) -> str:
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def _prefixes(call: CallSeen) -> Iterator[str]:
    """The program and its first word, which is the first word of every command of the line."""
    lines = call.command_lines
    commands = None if len(lines) != 1 or lines[0] is None else plain_commands(lines[0])
    if not commands:
        return
    program = program_of(commands[0][0])
    runs_others = program in WRAPPERS or _VERSION.sub("", program) in _INTERPRETERS
    yield from (f"{call.tool}(prefix:{_words(words)})" for words in _heads(commands[0], runs_others=runs_others))


def _heads(words: Words, *, runs_others: bool) -> Iterator[Words]:
    if runs_others:
        yield words
    elif len(words) > 1 and not words[1].startswith("-"):
        yield words[:2]
    else:
        yield words[:1]


def _words(words: Words) -> str:
    return " ".join(literal(word) for word in words)


def _folders(call: CallSeen, directories: tuple[str, ...]) -> Iterator[str]:
    """The folder all paths lie in, seen from its working directory if it is in one."""
    real = [seen.real for seen in call.located]
    known = [place for place in real if place is not None and place.startswith("/")]
    if not known or len(known) != len(real):
        return
    folder = posixpath.commonpath([posixpath.dirname(place) for place in known])
    bases = [call.facts.directories[name] for name in directories if name in call.facts.directories]
    base = next((b for b in bases if b.startswith("/") and posixpath.commonpath((b, folder)) == b), None)
    inner = folder if base is None else posixpath.relpath(folder, base)
    if inner != "/":
        yield f"{call.tool}(path:{'**' if inner == '.' else f'{literal(inner)}/**'})"
