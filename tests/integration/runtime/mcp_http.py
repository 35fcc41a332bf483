"""An MCP server over HTTP, made with the protocol's own SDK, in the test's own loop.

It speaks the newest protocol, or, `modern=False`, only the one with sessions and a handshake.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send


class Size(BaseModel):
    """What a customer is asked."""

    size: int


async def ask_size(item: str) -> Elicit[Size]:
    return Elicit(f"Which size of {item}?", Size)


def made() -> MCPServer:
    """The server as it is when it begins."""
    server = MCPServer("shop")

    @server.tool()
    async def who_asks(ctx: Context) -> str:
        return (ctx.headers or {}).get("x-key", "nobody")

    @server.tool()
    async def order(item: str, size: Annotated[Size, Resolve(ask_size)]) -> str:
        return f"ordered {item} in size {size.size}"

    @server.tool()
    async def grow(ctx: Context) -> str:
        server.add_tool(grown)
        await ctx.notify_tools_changed()
        return "grown"

    async def grown() -> str:
        return "new"

    return server


def _without_discovery(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers") or ())
        if headers.get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    return answer


class HttpServer:
    """A running server; its address stays while it begins anew."""

    def __init__(self, *, modern: bool) -> None:
        self._modern = modern
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"

    @classmethod
    @asynccontextmanager
    async def started(cls, *, modern: bool = True) -> AsyncIterator[HttpServer]:
        server = cls(modern=modern)
        server._begin()
        try:
            yield server
        finally:
            await server._end()
            server._socket.close()

    async def begin_anew(self) -> None:
        """Forget every session."""
        await self._end()
        self._begin()

    def _begin(self) -> None:
        app: ASGIApp = made().streamable_http_app()
        app = app if self._modern else _without_discovery(app)
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket.dup()]))

    async def _end(self) -> None:
        self._server.should_exit = True
        await self._task
