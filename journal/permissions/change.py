"""Changes of permissions: what is added, what is taken away, and whether that only tightens them.

Rule: a change is checked whole before any of it counts. A rule is the same rule whoever set it: adding it twice keeps
the first, taking it back names its tool and pattern.
"""

from __future__ import annotations

import posixpath
from typing import Final, Literal

from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Frozen
from turnwright.journal.permissions.rules import RULES_MAX, checked_rule, rule_text
from turnwright.journal.state_parts import Mode, PermissionState, Rule

DIRECTORIES_MAX: Final = 50
# They stand in the thread's control, which is written with every append.
PERMISSIONS_CHARACTERS_MAX: Final = 32_000
DIRECTORY_CHARACTERS_MAX: Final = 4_000
RuleKind = Literal["allow", "ask", "deny"]
# From what lets most run to what lets least.
MODES: Final[tuple[Mode, ...]] = ("bypass", "accept_edits", "default", "dont_ask", "explore")
_KINDS: tuple[RuleKind, ...] = ("allow", "ask", "deny")


class PermissionChange(Frozen):
    """A change of permissions; what is None stays as it is. Rules are taken away before others are added."""

    mode: Mode | None = None
    add: tuple[tuple[RuleKind, Rule], ...] = ()
    remove: tuple[tuple[RuleKind, Rule], ...] = ()
    working_directories: tuple[str, ...] | None = None


def changed(permissions: PermissionState, change: PermissionChange) -> PermissionState:
    """The permissions after the change.

    Raises:
        InvalidInput: a rule or directory is none, a rule to take away is not there, or there would be too many.
    """
    directories = permissions.working_directories
    new = PermissionState(
        mode=permissions.mode if change.mode is None else change.mode,
        allow=_rules("allow", permissions.allow, change),
        ask=_rules("ask", permissions.ask, change),
        deny=_rules("deny", permissions.deny, change),
        working_directories=directories if change.working_directories is None else _places(change.working_directories),
    )
    size = len(new.model_dump_json())
    if size > PERMISSIONS_CHARACTERS_MAX:
        raise InvalidInput(
            f"the permissions would have {size} characters, {PERMISSIONS_CHARACTERS_MAX} are the most; "
            "say more with one rule"
        )
    return new


def checked_permissions(permissions: PermissionState) -> PermissionState:
    """The permissions themselves (rules once each), if all of them can be kept.

    Raises:
        InvalidInput: a rule or directory is none, or there are too many.
    """
    rules = tuple((kind, rule) for kind in _KINDS for rule in getattr(permissions, kind))
    change = PermissionChange(mode=permissions.mode, add=rules, working_directories=permissions.working_directories)
    return changed(PermissionState(), change)


def joined(own: PermissionState, brought: PermissionState) -> PermissionState:
    """An agent's own permissions with those that its thread came with from elsewhere.

    A mode that lets more run was taken on its bringer's word, and holds; of others the tighter one does. `default` says
    nothing.
    """
    if brought == PermissionState():
        return own
    loosens = MODES.index(brought.mode) < MODES.index("default")
    tighter = own.mode if brought.mode == "default" else max(own.mode, brought.mode, key=MODES.index)
    return PermissionState(
        mode=brought.mode if loosens else tighter,
        allow=_once(own.allow + brought.allow),
        ask=_once(own.ask + brought.ask),
        deny=_once(own.deny + brought.deny),
        working_directories=tuple(dict.fromkeys(own.working_directories + brought.working_directories)),
    )


def _once(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple({(rule.tool, rule.pattern): rule for rule in reversed(rules)}.values())[::-1]


def is_tightening(old: PermissionState, new: PermissionState) -> bool:
    """Whether nothing may run unasked under the new permissions that had to be asked or was denied under the old."""
    return (
        MODES.index(new.mode) >= MODES.index(old.mode)
        and _names(new.allow) <= _names(old.allow)
        and _names(new.ask) >= _names(old.ask)
        and _names(new.deny) >= _names(old.deny)
        and _still_first(old, new)
    )


def _still_first(old: PermissionState, new: PermissionState) -> bool:
    """Whether directories only went and the first, which relative paths are relative to, is still what it was."""
    before, after = old.working_directories, new.working_directories
    return set(after) <= set(before) and after[:1] == before[:1]


def _names(rules: tuple[Rule, ...]) -> frozenset[tuple[str, str | None]]:
    return frozenset((rule.tool, rule.pattern) for rule in rules)


def _rules(kind: RuleKind, rules: tuple[Rule, ...], change: PermissionChange) -> tuple[Rule, ...]:
    kept = {(rule.tool, rule.pattern): rule for rule in rules}
    for rule in (rule for of, rule in change.remove if of == kind):
        if kept.pop((rule.tool, rule.pattern), None) is None:
            raise InvalidInput(f"there is no {kind} rule {rule_text(rule)!r} to take away; list the rules that are set")
    for rule in (rule for of, rule in change.add if of == kind):
        kept.setdefault((rule.tool, rule.pattern), checked_rule(rule))
    if len(kept) > RULES_MAX:
        raise InvalidInput(f"{len(kept)} {kind} rules, {RULES_MAX} are the most; say more with one, as tool_* does")
    return tuple(kept.values())


def _places(directories: tuple[str, ...]) -> tuple[str, ...]:
    if len(directories) > DIRECTORIES_MAX:
        raise InvalidInput(f"{len(directories)} working directories, {DIRECTORIES_MAX} are the most")
    return tuple(dict.fromkeys(_place(directory) for directory in directories))


def _place(directory: str) -> str:
    if not directory.startswith("/") or "\0" in directory or len(directory) > DIRECTORY_CHARACTERS_MAX:
        raise InvalidInput(f"working directory {directory[:200]!r} must be an absolute path, such as /srv/shop")
    normal = posixpath.normpath(directory)
    return normal[1:] if normal.startswith("//") else normal
