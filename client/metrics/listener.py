"""A small HTTP server beside a process's work, for whatever watches over it: `/metrics`, `/livez`, `/readyz`.

Rule: it listens on an address of its own, which is not for the public: numbers tell of every tenant. It never keeps the
process: what does not answer in time at its end is cut off.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from turnwright.client.metrics.page import Page
from turnwright.journal.errors import InvalidInput

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LEAVE_S_MAX = 1
BACKLOG = 16

log = structlog.get_logger(__name__)


class Listener:
    """Serves from `start` to `stop`.

    Args:
        page: the numbers.
        ready: why the process cannot do its work now; empty: it can.
        host: the address to listen on.
        port: its port; 0: one that is free.
    """

    def __init__(self, page: Page, ready: Callable[[], str], host: str, port: int) -> None:
        self._page = page
        self._ready = ready
        self._address = (host, port)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.url = ""

    async def start(self) -> None:
        """Return when it listens.

        Raises:
            InvalidInput: the address cannot be listened on.
        """
        listening = _listen(*self._address)
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}"
        config = uvicorn.Config(self._app(), log_config=None, access_log=False, timeout_graceful_shutdown=LEAVE_S_MAX)
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve([listening]), name="metrics")
        log.info("metrics_listening", url=self.url)

    async def stop(self) -> None:
        """Return when it does not listen any more; harmless when it does not."""
        serving, self._serving = self._serving, None
        if serving is None or self._server is None:
            return
        self._server.should_exit = True
        await asyncio.wait({serving})

    def _app(self) -> Starlette:
        routes = {"/metrics": self._metrics, "/livez": self._live, "/readyz": self._serves}
        return Starlette(routes=[Route(path, answer) for path, answer in routes.items()])

    async def _metrics(self, _: Request) -> Response:
        page = await self._page.made()
        return Response(page.text, media_type=CONTENT_TYPE, background=BackgroundTask(_call, page.given))

    async def _live(self, _: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def _serves(self, _: Request) -> Response:
        why = self._ready()
        return PlainTextResponse(f"{why}\n" if why else "ready\n", status_code=503 if why else 200)


class _Server(uvicorn.Server):
    """One that leaves signals to whose process it is."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=_family(host), backlog=BACKLOG)
    except OSError as error:
        raise InvalidInput(f"cannot listen on {host}:{port} for metrics: {error.strerror or error}") from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _call(given: Callable[[], None]) -> None:
    """On the loop, where everything is counted."""
    given()
