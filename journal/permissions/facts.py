"""What a worker found out about one call, because only a worker could.

Rule: a fact that is missing is not a permission. A path without a real path is granted by no rule, and a tool's own
check that was not made counts as "ask".
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from turnwright.journal.messages import Frozen


class Checked(Frozen):
    """What the tool's own check said about the call; `pass` leaves it to the rules and the mode."""

    verdict: Literal["allow", "ask", "deny", "pass"]
    message: str = ""


class CallFacts(Frozen):
    """What a worker found out about one call.

    `resolved`: the real absolute paths of a path argument, by its name, one for each path in it. `directories`: the
    real path of a working directory, by how it was set. `received`: the arguments as the tool gets them, with defaults
    and converted to its types; None if they do not fit. `unfit`: why the tool cannot be called with them, in words for
    the model; such a call is not made, so nobody is asked about it.
    """

    resolved: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    directories: dict[str, str] = Field(default_factory=dict)
    check: Checked | None = None
    received: dict[str, Any] | None = None
    unfit: str | None = None
