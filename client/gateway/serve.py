"""A gateway as a process: it listens, answers, and leaves when it is asked to.

Rule: without authentication it serves this machine only, whatever it is told to listen on.
"""

from __future__ import annotations

import socket

import uvicorn

from turnwright.client.gateway.app import create_app
from turnwright.client.gateway.connections import connections, count_connections
from turnwright.client.gateway.leaving import Server
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.gateway.this_machine import is_loopback
from turnwright.journal.errors import InvalidInput

LEAVE_S = 5
BACKLOG = 512
KEEP_ALIVE_S = 30


def check_address(settings: GatewaySettings) -> None:
    """Raises `InvalidInput` if a gateway that asks nobody who they are could be reached from elsewhere."""
    if settings.open and not is_loopback(settings.host):
        raise InvalidInput(
            f"without authentication the gateway listens on this machine only, not on {settings.host}; make a key with "
            "`turnwright keys create`, or name an issuer of tokens"
        )


class Gateway:
    """A gateway that runs until it is asked to stop."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._server = server_of(settings)

    def stop(self) -> None:
        """Ask it to end soon."""
        self._server.should_exit = True

    async def run(self) -> None:
        """Serve to the end.

        Raises:
            InvalidInput: it may not, or cannot, listen there.
            StoreUnavailable: there is no journal.
        """
        await self._server.serve(sockets=[_listen(self._settings)])


def server_of(settings: GatewaySettings) -> Server:
    """The server, not started yet. What goes wrong is logged by what stands above it: the library's own words are not.

    Raises:
        InvalidInput: it may not listen there.
    """
    check_address(settings)
    app = create_app(settings)
    return Server(
        uvicorn.Config(
            app,
            http=connections(settings, count_connections()),
            ws="none",
            host=settings.host,
            port=settings.port,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=LEAVE_S,
            h11_max_incomplete_event_size=64 * 1024,
        ),
        app,
    )


def _listen(settings: GatewaySettings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port), backlog=BACKLOG, reuse_port=False)
    except OSError as error:
        raise InvalidInput(
            f"the gateway cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}; "
            "choose another with --host and --port"
        ) from None
