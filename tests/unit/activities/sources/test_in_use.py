"""Sources in use: each is opened once, and what takes long to load is not loaded on the loop."""

import asyncio
import threading
from typing import Any

from turnwright.activities.sources.in_use import SourcesInUse
from turnwright.activities.sources.port import OpenSource
from turnwright.activities.sources.terms import Terms
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool
from turnwright.journal.agents import ToolSpec


class Opened:
    """A source without tools."""

    async def list(self, ctx: ToolContext) -> tuple[ToolSpec, ...]:
        return ()

    def tool(self, spec: ToolSpec) -> Tool[..., Any]:
        raise LookupError(spec.name)

    async def close(self) -> None:
        pass


class Slow:
    """A source that says where it was loaded, and how often it was opened."""

    def __init__(self) -> None:
        self.terms = Terms.of("slow", {})
        self.loaded: list[threading.Thread] = []
        self.opened = 0

    def load(self) -> None:
        self.loaded.append(threading.current_thread())

    def open(self) -> OpenSource:
        self.opened += 1
        return Opened()


async def test_a_source_is_loaded_beside_the_loop_and_opened_once_for_all() -> None:
    source, used = Slow(), SourcesInUse()
    first, second = await asyncio.gather(used.of(source), used.of(source))
    assert first is second
    assert await used.of(source) is first
    assert source.opened == 1
    assert source.loaded
    assert threading.main_thread() not in source.loaded
    await used.close()
