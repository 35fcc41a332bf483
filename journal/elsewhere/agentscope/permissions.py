"""AgentScope's permissions as ours, and back.

Rule: nobody is allowed more by a file than whoever brings it says (`trusted`). What a rule says about a call's
content is for its own tool to read there; where we cannot read it, a rule that denies or asks becomes one that asks
about every call of the tool, and one that allows is not taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import MODES, RuleKind, checked_permissions
from turnwright.journal.permissions.rules import SOURCE_CHARACTERS_MAX, checked_rule, rule_text
from turnwright.journal.state_parts import Mode, PermissionState, Rule

CONTEXT: Final = "permission_context"
_KINDS: Final[tuple[RuleKind, ...]] = ("allow", "ask", "deny")
# Tools whose rules AgentScope documents as globs of paths.
_OF_PATHS: Final = frozenset({"Read", "Write", "Edit"})


def read_permissions(place: Place, reading: Reading) -> PermissionState:
    """The permissions, as far as they have a meaning here. Raises `InvalidInput`."""
    mode: Mode = "default"
    if (said := place.find("mode")) is not None:
        found = said.text().lower()
        if found not in get_args(Mode):
            raise said.expected(f"one of {', '.join(get_args(Mode))}")
        mode = found  # type: ignore[assignment]  # it is one of them
    rules: dict[RuleKind, list[Rule]] = {kind: [] for kind in _KINDS}
    for kind in _KINDS:
        for of_tool in _members(place, f"{kind}_rules"):
            for one in of_tool.items():
                _add(rules, kind, one, reading)
    directories = tuple(one.part("path").text() for one in _members(place, "working_directories"))
    for path in directories:
        if not path.startswith("/"):
            reading.note(place.path, f"the working directory {path[:100]!r} is not absolute and is not taken")
    state = PermissionState(
        mode=mode, working_directories=tuple(path for path in directories if path.startswith("/")),
        allow=tuple(rules["allow"]), ask=tuple(rules["ask"]), deny=tuple(rules["deny"]),
    )  # fmt: skip
    try:
        return checked_permissions(state)
    except InvalidInput as error:
        raise place.wrong(str(error)) from error


def _members(place: Place, key: str) -> list[Place]:
    found = place.find(key)
    return [] if found is None else [item for _, item in sorted(found.entries()) if item.value is not None]


def _add(rules: dict[RuleKind, list[Rule]], kind: RuleKind, place: Place, reading: Reading) -> None:
    tool, content = place.part("tool_name").text(), place.word("rule_content")
    source = (place.word("source") or "agentscope")[:SOURCE_CHARACTERS_MAX]
    pattern = f"path:{content}" if content and tool in _OF_PATHS else None
    try:
        rule = checked_rule(Rule(tool=tool, pattern=pattern, source=source))
    except InvalidInput as error:
        if not pattern or kind == "allow":
            reading.note(place.path, f"the rule is kept aside and not in force: {error}")
            return
        rule, pattern = Rule(tool=tool, source=source), None
    if not content or pattern:
        rules[kind].append(rule)
    elif kind == "allow":
        reading.note(place.path, f"what {content[:100]!r} allows cannot be said here; the rule is kept aside")
    else:
        reading.note(place.path, f"{content[:100]!r} cannot be said here: every call of {tool} is asked about instead")
        rules["ask"].append(rule)


def gated(permissions: PermissionState, place: str, reading: Reading, *, trusted: bool) -> PermissionState:
    """The permissions without what loosens, unless whoever brings them says that it may."""
    if trusted:
        return permissions
    mode: Mode = permissions.mode if MODES.index(permissions.mode) >= MODES.index("default") else "default"
    refused = [f"the mode {permissions.mode}"] if mode != permissions.mode else []
    refused += [f"the rule that allows {rule_text(rule)}" for rule in permissions.allow]
    refused += [f"the working directory {path}" for path in permissions.working_directories]
    for what in refused:
        reading.note(place, f"{what} is not taken without trust_permissions (--trust-permissions)")
    return permissions.model_copy(update={"mode": mode, "allow": (), "working_directories": ()})


def written_permissions(permissions: PermissionState) -> dict[str, Any]:
    """Our permissions as AgentScope has them."""
    return {
        "mode": permissions.mode,
        "working_directories": {
            path: {"path": path, "source": "turnwright"} for path in permissions.working_directories
        },
        **{f"{kind}_rules": _written(kind, getattr(permissions, kind)) for kind in _KINDS},
    }


def _written(kind: RuleKind, rules: tuple[Rule, ...]) -> Mapping[str, list[dict[str, Any]]]:
    made: dict[str, list[dict[str, Any]]] = {}
    for rule in rules:
        pattern = rule.pattern
        content = pattern.removeprefix("path:") if pattern is not None and rule.tool in _OF_PATHS else pattern
        made.setdefault(rule.tool, []).append(
            {"tool_name": rule.tool, "rule_content": content, "behavior": kind, "source": rule.source or "turnwright"}
        )
    return made
