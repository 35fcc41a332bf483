"""Permissions for people: in a few words, and rule by rule."""

from __future__ import annotations

from turnwright.client.cli.screen import Screen
from turnwright.journal.permissions.change import RuleKind
from turnwright.journal.permissions.rules import rule_text
from turnwright.journal.state_parts import PermissionState

KINDS: tuple[RuleKind, ...] = ("deny", "ask", "allow")


def permission_words(permissions: PermissionState) -> str:
    """Permissions in a few words."""
    counts = [f"{len(getattr(permissions, kind))} {kind}" for kind in KINDS if getattr(permissions, kind)]
    return f"mode {permissions.mode}" + (f", rules: {', '.join(counts)}" if counts else "")


def show_permissions(permissions: PermissionState, screen: Screen) -> None:
    """Permissions, rule by rule, in the order in which they count."""
    screen.facts([("mode", permissions.mode), ("directories", ", ".join(permissions.working_directories))])
    rows = [(kind, rule_text(rule), rule.source) for kind in KINDS for rule in getattr(permissions, kind)]
    screen.table(("kind", "rule", "set by"), rows, "there are no rules")
