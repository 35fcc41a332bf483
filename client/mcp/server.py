"""The MCP server itself: its tools with what they promise, on standard streams or over HTTP on this machine.

Rule: on standard output there is nothing but the protocol. Over HTTP nobody is asked who they are, so only this machine
is listened to, and no page of a browser is.
"""

from __future__ import annotations

import ipaddress
from importlib.metadata import version
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from turnwright.client.client import Client
from turnwright.client.mcp.tools import Tools, told, unfit
from turnwright.journal.errors import InvalidInput

NAME = "turnwright"
PORT_MAX = 65_535
INSTRUCTIONS = (
    "Turnwright carries out tasks of agents durably. `submit` gives an agent a task and answers at once with the id of "
    "its turn; `wait` tells the answer, or what is asked. Answer with `respond`, and go on with `wait`. A turn "
    "goes on whatever becomes of this connection; `status` tells where it stands."
)
_LOOKS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
# An approval lets a call happen that may destroy something.
_DECIDES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)


class _Server(MCPServer[None]):
    """One that says in plain words which argument is not as it should be; the SDK told what its library does."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises `ToolError`."""
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise  # what breaks within a tool may be of the same class, and something may have been done
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(unfit(name, error.__cause__)) from None
            raise


def make_server(client: Client, user: str | None) -> MCPServer[None]:
    """The server for the sessions of one user (None: the anonymous one's)."""
    server = _Server(
        NAME, title="Turnwright", instructions=INSTRUCTIONS, version=version("turnwright"), log_level="WARNING"
    )
    tools = Tools(client, user)
    for tool, promised in (
        (tools.submit, _ACTS),
        (tools.status, _LOOKS),
        (tools.wait, _LOOKS),
        (tools.respond, _DECIDES),
        (tools.questions, _LOOKS),
    ):
        server.add_tool(told(tool), annotations=promised, structured_output=True)
    return server


async def serve_streams(client: Client, user: str | None) -> None:
    """Serve on standard streams until the input ends."""
    await make_server(client, user).run_stdio_async()


async def serve_http(client: Client, user: str | None, place: str) -> None:
    """Serve streamable HTTP at `/mcp` of HOST:PORT until it is told to stop.

    Raises:
        InvalidInput: the place is none of this machine.
    """
    host, port = checked_place(place)
    app = make_server(client, user).streamable_http_app(host=host)
    await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning")).serve()


def checked_place(place: str) -> tuple[str, int]:
    """Host and port. Raises `InvalidInput` if they are none, or others than this machine's could be heard."""
    host, _, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port[:6]) <= PORT_MAX:
        raise InvalidInput(f"say where to listen as HOST:PORT, such as 127.0.0.1:8848, not {place!r:.60}")
    if host != "localhost" and not _is_loopback(host):
        raise InvalidInput(
            f"{host} is heard outside of this machine, and this server asks nobody who they are; use 127.0.0.1, and a "
            "gateway (`turnwright gateway`) for others"
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
