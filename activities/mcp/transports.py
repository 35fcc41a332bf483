"""How a server is spoken to: over the standard streams of a child process, or by streamable HTTP.

Rule: whoever speaks is told at once when the other side is gone, so that nothing is sent to nobody.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from turnwright.activities.mcp import tether
from turnwright.activities.mcp.said import Said
from turnwright.activities.mcp.server import McpServer
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.tool_output import OUTPUT_BYTES_MAX

# An answer may take as long as its call; the call has its own bound, and connecting has one too.
NOT_FOUND: Final = 404
SESSION_HEADER: Final = "mcp-session-id"
EVENT_BYTES_MAX: Final = 2 * OUTPUT_BYTES_MAX  # binary content is a third longer as text
HTTP_TIMEOUT: Final = httpx2.Timeout(30.0, read=None)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a session: the other side is `gone`, or has `forgotten` it."""

    gone: asyncio.Event = field(default_factory=asyncio.Event)
    forgotten: asyncio.Event = field(default_factory=asyncio.Event)


def transport_of(server: McpServer, said: Said, fate: Fate) -> AbstractAsyncContextManager[Any]:
    """The streams to the server, with a look at what becomes of the session."""
    return _watched(_http(server, fate) if server.url is not None else _stdio(server, said), fate.gone)


@asynccontextmanager
async def _stdio(server: McpServer, said: Said) -> AsyncIterator[Any]:
    env = get_default_environment() | dict(server.env or {})
    if shutil.which(server.command[0], path=env.get("PATH")) is None:
        raise SourceAway(f"there is no program {server.command[0]!r} here; install it, or correct its command")
    if server.cwd is not None and not await asyncio.to_thread(Path(server.cwd).is_dir):
        raise SourceAway(f"its folder {server.cwd!r} is not there")
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", tether.__file__, str(os.getpid()), *server.command],
        env=dict(server.env or {}),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    async with said.taking() as errors, stdio_client(parameters, errlog=errors) as streams:
        yield streams


@asynccontextmanager
async def _http(server: McpServer, fate: Fate) -> AsyncIterator[Any]:
    async def look(response: httpx2.Response) -> None:
        if response.status_code == NOT_FOUND and SESSION_HEADER in response.request.headers:
            fate.forgotten.set()

    headers = server.headers() if callable(server.headers) else server.headers
    hooks = {"response": [look]}
    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), timeout=HTTP_TIMEOUT, event_hooks=hooks) as client,
        streamable_http_client(server.url or "", http_client=client, max_sse_event_size=EVENT_BYTES_MAX) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(transport: AbstractAsyncContextManager[Any], gone: asyncio.Event) -> AsyncIterator[Any]:
    """The transport's streams, with a look at what comes in: its end is the server's."""
    async with transport as (read, write), anyio.create_task_group() as group:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        group.start_soon(_pass_on, read, send, gone)
        try:
            yield receive, write
        finally:
            receive.close()
            send.close()
            group.cancel_scope.cancel()


async def _pass_on(
    read: AsyncIterable[SessionMessage | Exception],
    send: MemoryObjectSendStream[SessionMessage | Exception],
    gone: asyncio.Event,
) -> None:
    try:
        async with send:
            async for message in read:
                await send.send(message)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass  # our side was closed first
    finally:
        gone.set()
