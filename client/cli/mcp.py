"""`turnwright mcp`: Turnwright as an MCP server, for agents and programs that speak that protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli.options import User
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.journal.errors import InvalidInput

Http = Annotated[
    str | None,
    typer.Option("--http", metavar="HOST:PORT", help="Streamable HTTP at /mcp, on this machine only; else stdio."),
]
MISSING = 'this needs the extra: pip install "turnwright[mcp]"'


class McpCommand:
    """The command with the runner it uses."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add it to an application."""
        app.command("mcp")(self.mcp)

    def mcp(self, *, user: User = None, http: Http = None) -> None:
        """Be an MCP server on standard streams: submit, status, wait, respond, questions."""

        async def run(client: Client, screen: Screen) -> None:
            del screen
            try:
                from turnwright.client.mcp.server import (  # noqa: PLC0415 - an extra, and slow to load
                    serve_http,
                    serve_streams,
                )
            except ModuleNotFoundError as error:
                if error.name is None or error.name.partition(".")[0] != "mcp":
                    raise
                raise InvalidInput(MISSING) from None
            await (serve_streams(client, user) if http is None else serve_http(client, user, http))

        self._runner.run(run, as_json=False)
