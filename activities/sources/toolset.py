"""A pydantic-ai toolset as a source of tools.

Rule: the toolset keeps what it is: its schemas, its checks of arguments, its wrappers. What is ours stays ours: a call
has an effect (`once` unless said otherwise), permissions, and a result in the journal.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Unpack

from turnwright.activities.sources.port import OpenSource
from turnwright.activities.sources.terms import TermOptions, Terms
from turnwright.activities.tool_context import ToolContext
from turnwright.journal.errors import InvalidInput

IN_USE: Final = "turnwright.activities.sources.toolset_use"

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset


class Toolset:
    """The tools of a pydantic-ai toolset as an agent's: `Toolset("shop", FunctionToolset([...]))`.

    `deps` makes what the tools find in `ctx.deps` (None without it) from the context of the call; it may be async, and
    one that is not has a thread of its own. The names of the tools stay as they are, unless a `prefix` is said.

    Raises:
        InvalidInput: it is no toolset, or something else is not what it must be.
    """

    def __init__(
        self,
        name: str,
        toolset: AbstractToolset[Any],
        *,
        deps: Callable[[ToolContext], Awaitable[Any] | Any] | None = None,
        **options: Unpack[TermOptions],
    ) -> None:
        if not all(callable(getattr(toolset, part, None)) for part in ("get_tools", "call_tool")):
            raise InvalidInput(f"source {name}: {toolset!r} is no toolset of pydantic-ai")
        if deps is not None and not callable(deps):
            raise InvalidInput(f"source {name}: deps= is a function of a ToolContext, got {deps!r}")
        self.terms = Terms.of(name, TermOptions(**({"prefix": ""} | options)))
        self.toolset = toolset
        self.deps = deps

    def load(self) -> None:
        """Import what toolsets are used with."""
        importlib.import_module(IN_USE)

    def open(self) -> OpenSource:
        """The toolset for use in this process; it is entered when first needed."""
        opened: OpenSource = importlib.import_module(IN_USE).ToolsetInUse(self)
        return opened
