"""MCP servers in use without a turn around them: their lists and calls as a worker asks for them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, Unpack

from tests.integration.runtime import mcp_plain
from turnwright.activities import McpServer, ToolContext
from turnwright.activities.mcp.server import McpOptions
from turnwright.activities.sources.listed import CONTEXT
from turnwright.activities.sources.port import OpenSource
from turnwright.activities.tool_results import Question
from turnwright.journal.agents import ToolSpec

DEADLINE_S = 20


def context(key: str) -> ToolContext:
    return ToolContext(
        tenant="t",
        user=None,
        agent="a",
        session="s",
        thread="main",
        turn_id="turn",
        run_id="run",
        step=1,
        call_id=key,
        idempotency_key=key,
    )


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not holds():
            await asyncio.sleep(0.01)


async def until_traced(file: Path, line: str) -> None:
    await until(lambda: file.exists() and line in file.read_text().splitlines())


class Opened:
    """A source in use, whose tools are listed."""

    def __init__(self, source: OpenSource) -> None:
        self.source = source
        self._specs: dict[str, ToolSpec] = {}

    @classmethod
    @asynccontextmanager
    async def of(cls, server: McpServer) -> AsyncIterator[Self]:
        opened = cls(server.open())
        try:
            await opened.list()
            yield opened
        finally:
            await opened.source.close()

    async def list(self) -> None:
        self._specs = {str(spec.name_there): spec for spec in await self.source.list(context(""))}

    def begin(self, name: str, key: str, **arguments: object) -> asyncio.Task[Any]:
        """Have a call made; its key is what says whose it is."""
        return asyncio.create_task(self.call(name, key, **arguments))

    async def call(self, name: str, key: str, **arguments: object) -> Any:  # noqa: ANN401 - what the tool returns
        """The text a call returns, or the words of the question it asks."""
        tool = self.source.tool(self._specs[name])
        result = await tool.function(**{CONTEXT: context(key), **arguments})
        return result.prompt if isinstance(result, Question) else result.parts[0]


def plain(log: Path, *mischief: str, **options: Unpack[McpOptions]) -> McpServer:
    return McpServer.stdio("plain", [sys.executable, mcp_plain.__file__, str(log), *mischief], **options)


def starts(log: Path) -> int:
    return log.read_text().count("begun")


async def given_up(call: asyncio.Task[Any]) -> None:
    call.cancel()
    await asyncio.wait({call})
