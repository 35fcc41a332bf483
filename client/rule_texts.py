"""Changes of permissions as people write them: rules as text, with their kind where it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import PermissionChange, RuleKind
from turnwright.journal.permissions.rules import parse_rule, rule_text
from turnwright.journal.state_parts import Mode, PermissionState, Rule

KINDS: tuple[RuleKind, ...] = get_args(RuleKind)


def change_of(
    current: PermissionState,
    source: str,
    *,
    mode: Mode | None,
    rules: dict[RuleKind, Sequence[str]],
    remove: Sequence[str],
    working_directories: Sequence[str] | None,
) -> PermissionChange:
    """The change that these words are.

    Args:
        current: the permissions now, where a rule to take away is looked up.
        source: who sets the rules that are added.
        mode: the new mode.
        rules: the rules to add, by kind.
        remove: rules to take away; one may begin with its kind, as in `deny refund`.
        working_directories: all of them.

    Raises:
        InvalidInput: one is no rule, or nothing is to be changed.
    """
    added = tuple((kind, parse_rule(text, source)) for kind, texts in rules.items() for text in texts)
    removed = tuple(found for text in remove for found in _named(current, text))
    directories = None if working_directories is None else tuple(working_directories)
    if mode is None and directories is None and not (added or removed):
        raise InvalidInput("say what to change: the mode, rules to add or take away, or the working directories")
    return PermissionChange(mode=mode, add=added, remove=removed, working_directories=directories)


def needs_lookup(remove: Sequence[str]) -> bool:
    """Whether a rule to take away does not say its kind."""
    return any(_split(text)[0] is None for text in remove)


def _named(current: PermissionState, text: str) -> Iterator[tuple[RuleKind, Rule]]:
    kind, rest = _split(text)
    rule = parse_rule(rest)
    if kind is not None:
        yield kind, rule
        return
    kinds = [k for k in KINDS if rule_text(rule) in map(rule_text, getattr(current, k))]
    if not kinds:
        raise InvalidInput(f"there is no rule {rule_text(rule)!r} to take away; list the rules that are set")
    yield from ((k, rule) for k in kinds)


def _split(text: str) -> tuple[RuleKind | None, str]:
    word, space, rest = text.strip().partition(" ")
    kind = next((k for k in KINDS if k == word), None)
    return (kind, rest) if space and kind is not None else (None, text)
