"""A guard over permissions: whether a call might start, by the few and simple rules that random histories use.

Rule: it reads the permissions from the entries and judges by itself. Rules it knows are a tool's name (or `*`), alone
or with `(to=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turnwright.journal import entries as e
from turnwright.journal.canonical import digest_of
from turnwright.journal.entries import Entry
from turnwright.journal.messages import ToolCall
from turnwright.journal.state_parts import PermissionState, Rule


@dataclass
class Guard:
    """The permissions as they are now, and what is known of calls.

    `arguments` are those the model wrote or somebody asked about or edited, `asked` the calls somebody was asked
    about, and `allowed` the digests of what was allowed then; `before` the permissions after each entry. `pinned` is
    which entry pinned the agent, and what it may of its own.
    """

    permissions: PermissionState = field(default_factory=PermissionState)
    planning: bool = False
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    allowed: dict[str, str] = field(default_factory=dict)
    before: dict[int, tuple[PermissionState, bool]] = field(default_factory=dict)
    pinned: tuple[int, PermissionState] = (0, PermissionState())

    def read(self, entry: Entry) -> None:
        """Follow what may be done."""
        match entry.payload:
            case e.ThreadOpened(agent=agent):
                self.permissions = agent.permissions
                self.pinned = (entry.seq, agent.permissions)
            case e.PermissionsChanged(permissions=permissions):
                self.permissions = permissions
            case e.PlanChanged(plan=plan):
                self.planning = plan.active
            case e.StateUpdated(changes=changes) if "plan" in changes:
                self.planning = bool(changes["plan"].get("active", False))
            case e.ThreadRewound(to_seq=to_seq):
                self.permissions, self.planning = self.before[to_seq]
                if to_seq < self.pinned[0]:  # the agent stays, though there was none then
                    self.permissions = self.pinned[1]
            case e.ModelResponded(blocks=blocks):
                self.arguments |= {block.id: block.arguments for block in blocks if isinstance(block, ToolCall)}
            case e.InteractionRequested(kind="approval", call_id=call_id, asked=asked):
                self.arguments[call_id or ""] = asked["arguments"]
            case e.ToolDecided() as decided:
                self._decided(decided)
            case _:
                pass
        self.before[entry.seq] = (self.permissions, self.planning)

    def _decided(self, decided: e.ToolDecided) -> None:
        call_id, digest = decided.call_id, decided.arguments_digest
        if decided.arguments is not None:
            self.arguments[call_id] = decided.arguments
        match decided.decision:
            case "ask":
                self.asked.add(call_id)
                self.allowed.pop(call_id, None)
            case "allow" if call_id in self.asked:
                assert digest == digest_of(self.arguments[call_id]), "allowed is not what was asked about"
                self.allowed[call_id] = digest
            case _:
                pass

    def forbids(self, name: str, effect: str, arguments: Mapping[str, Any]) -> bool:
        """Whether nobody may allow the call now."""
        looks_only = self.planning or self.permissions.mode == "explore"
        return _any(self.permissions.deny, name, arguments) or (looks_only and effect != "read")

    def may_start(self, call_id: str, name: str, effect: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the call may start now with these arguments: somebody allowed just them, or nobody need be asked."""
        if self.forbids(name, effect, arguments):
            return False
        return self.allowed.get(call_id) == digest_of(arguments) or self._unasked(name, effect, arguments)

    def _unasked(self, name: str, effect: str, arguments: Mapping[str, Any]) -> bool:
        if _any(self.permissions.ask, name, arguments):
            return False
        granted = _any(self.permissions.allow, name, arguments)
        return effect == "read" or granted or self.permissions.mode == "bypass"


def _any(rules: tuple[Rule, ...], name: str, arguments: Mapping[str, Any]) -> bool:
    return any(
        rule.tool in (name, "*") and (rule.pattern is None or rule.pattern == f"to={arguments.get('to')}")
        for rule in rules
    )
