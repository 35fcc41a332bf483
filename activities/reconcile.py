"""What a tool's reconcile hook can say about a call whose outcome is unknown.

Rule: a hook finds out, it does not act. It answers one of four things; anything it cannot know is
`unknown`, and then a person is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from turnwright.activities.tool_context import ToolContext

ReconcileStatus: TypeAlias = Literal["succeeded", "failed", "unknown", "run_again"]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A hook's finding; made by one of its four methods."""

    status: ReconcileStatus
    output: Any = None
    message: str = ""

    @classmethod
    def succeeded(cls, output: Any = None) -> Reconciled:  # noqa: ANN401 - what the tool would have returned
        """The call took effect, and this is what it would have returned."""
        return cls("succeeded", output)

    @classmethod
    def failed(cls, message: str) -> Reconciled:
        """The call took no effect and is not to be made again."""
        return cls("failed", message=message)

    @classmethod
    def unknown(cls, message: str = "") -> Reconciled:
        """It cannot be found out here: ask a person."""
        return cls("unknown", message=message)

    @classmethod
    def run_again(cls) -> Reconciled:
        """The call took no effect; make it again."""
        return cls("run_again")


ReconcileHook: TypeAlias = Callable[[ToolContext, dict[str, Any]], Awaitable[Reconciled]]
