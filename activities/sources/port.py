"""The port to what tools come from: it lists them, and makes each a tool that this worker can run.

Rule: a source is data until a worker opens it, once per process; opening waits for nothing. A list is asked for again
with each request to a model, so it costs nothing while nothing has changed there. A thread keeps what was listed: any
worker that has the source makes the same tool of it, without asking again.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from turnwright.activities.sources.terms import Terms
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool
from turnwright.journal.agents import ToolSpec
from turnwright.journal.errors import TurnwrightError


class SourceAway(TurnwrightError):
    """What tools come from cannot be asked at the moment; the message says why, and another attempt may do better."""


class OpenSource(Protocol):
    """A source in use by a worker process."""

    async def list(self, ctx: ToolContext) -> tuple[ToolSpec, ...]:
        """The tools it has now.

        Raises:
            SourceAway: it cannot be asked.
        """
        ...

    def tool(self, spec: ToolSpec) -> Tool[..., Any]:
        """The tool that was listed like this."""
        ...

    async def close(self) -> None:
        """Let go of everything, within a few seconds; calls that still run fail."""
        ...


@runtime_checkable
class SlowToLoad(Protocol):
    """A source whose opening imports much."""

    def load(self) -> None:
        """Import it, in a thread; `open` does so too, where it is not done yet."""
        ...


@runtime_checkable
class ToolSource(Protocol):
    """Something tools come from, as an agent's author says it."""

    @property
    def terms(self) -> Terms:
        """Its name, and on which terms its tools become the agent's."""
        ...

    def open(self) -> OpenSource:
        """The source for use in this process."""
        ...
