"""How a server is spoken to: over the standard streams of a child process, or by streamable HTTP."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client

from turnwright.activities.mcp import tether
from turnwright.activities.mcp.fate import Fate
from turnwright.activities.mcp.said import Said
from turnwright.activities.mcp.server import McpServer
from turnwright.activities.mcp.streams import Incoming, Outgoing
from turnwright.activities.mcp.under_way import UnderWay
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.tool_body import answer_of
from turnwright.activities.tool_errors import told
from turnwright.activities.tool_output import OUTPUT_BYTES_MAX

# An answer may take as long as its call; the call has its own bound, and connecting has one too.
NOT_FOUND: Final = 404
SESSION_HEADER: Final = "mcp-session-id"
EVENT_BYTES_MAX: Final = 2 * OUTPUT_BYTES_MAX  # binary content is a third longer as text
HTTP_TIMEOUT: Final = httpx2.Timeout(30.0, read=None)
HEADERS_S_MAX: Final = 10.0


@asynccontextmanager
async def transport_of(
    server: McpServer, said: Said, fate: Fate, under_way: UnderWay
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The streams to the server, with a look at what becomes of the session."""
    async with _http(server, fate) if server.url is not None else _stdio(server, said) as (read, write):
        yield Incoming(read, fate, under_way), Outgoing(write, under_way)


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
            fate.forget()

    headers = await _headers(server)
    hooks = {"response": [look]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=HTTP_TIMEOUT, event_hooks=hooks) as client,
        streamable_http_client(server.url or "", http_client=client, max_sse_event_size=EVENT_BYTES_MAX) as streams,
    ):
        yield streams


async def _headers(server: McpServer) -> dict[str, str]:
    if not callable(server.headers):
        return dict(server.headers or {})
    timeout_s = min(HEADERS_S_MAX, server.connect_timeout_s / 2)
    ended = await answer_of(server.headers, timeout_s, f"headers of {server.name}")
    if ended is None:
        raise SourceAway(f"its headers= gave none within {timeout_s:g} s")
    if ended.error is not None:
        raise SourceAway(f"its headers= failed: {told(ended.error)}") from ended.error
    if not isinstance(ended.value, Mapping):
        raise SourceAway(f"its headers= gave no headers, but {type(ended.value).__name__}")
    return dict(ended.value)
