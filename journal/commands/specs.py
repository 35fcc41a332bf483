"""What a worker knows of a tool that a model calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from turnwright.journal.agents import Effect, ToolSpec


@dataclass(frozen=True, slots=True)
class CallSpec:
    """What the worker knows of a tool the model calls; absent for a tool the agent does not have.

    `inactive_group`: the tool is in this group, which is not activated, so the model was not offered it.
    """

    effect: Effect = "once"
    reconcilable: bool = False
    paths: tuple[str, ...] = ()
    command: str | None = None
    checked: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    inactive_group: str | None = None

    @classmethod
    def of(cls, tool: ToolSpec, *, active: bool = True) -> CallSpec:
        """What there is to know of a tool."""
        group = None if active else tool.group
        return cls(
            tool.effect, tool.reconcilable, tool.paths, tool.command, tool.checked, tool.parameters, group
        )  # fmt: skip

    def as_asked(self) -> dict[str, Any]:
        """What a question about a call keeps of it, so that edited arguments can be checked."""
        return {"paths": list(self.paths), "command": self.command, "parameters": self.parameters}

    @classmethod
    def of_asked(cls, effect: Effect, asked: object) -> CallSpec:
        """What a question kept; nothing, if that was erased."""
        kept: dict[str, Any] = asked if isinstance(asked, dict) else {}
        return cls(
            effect,
            paths=tuple(kept.get("paths", ())),
            command=kept.get("command"),
            parameters=kept.get("parameters", {}),
        )
