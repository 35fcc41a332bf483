"""What a tool's own check can say about a call before it may run.

Rule: a check judges, it does not act: it is asked when the model wants the call and again when a worker takes it, and
may be asked more often. What it does not settle, the rules and the mode settle.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from turnwright.activities.tool_context import ToolContext

CheckVerdict: TypeAlias = Literal["allow", "ask", "deny", "pass"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check's verdict; made by one of its four methods."""

    verdict: CheckVerdict
    message: str = ""

    @classmethod
    def allow(cls) -> Check:
        """The call may run, unless a rule denies it or asks."""
        return cls("allow")

    @classmethod
    def ask(cls, message: str) -> Check:
        """A person must approve the call; `message` tells them why."""
        return cls("ask", message)

    @classmethod
    def deny(cls, message: str) -> Check:
        """The call must not run, whoever approves it; `message` tells the model why."""
        return cls("deny", message)

    @classmethod
    def pass_(cls) -> Check:
        """The check has no opinion: rules and mode decide."""
        return cls("pass")


CheckHook: TypeAlias = (
    Callable[[ToolContext, dict[str, Any]], Check] | Callable[[ToolContext, dict[str, Any]], Awaitable[Check]]
)
