"""How streams end before their end, because the server stops or the credential ends: behind a whole event, with a word.

Rule: the server waits for answers that are under way, and a stream has no end to wait for. So all of them are ended
when it begins to leave; a reader comes back with the last id it got, to whichever gateway serves then.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import structlog
import uvicorn
from fastapi import FastAPI
from sse_starlette.sse import AppStatus
from starlette.types import Message, Send

from turnwright.client.gateway.connections import Connection

FAREWELL = b": server stopping\n\n"
CREDENTIAL_ENDED = b": credential ended\n\n"
FAREWELL_S = 1.0

log = structlog.get_logger(__name__)


class Leaving:
    """The streams that are open, to be ended together."""

    def __init__(self) -> None:
        self._open: set[asyncio.Timeout] = set()
        self._begun = False

    def begin(self) -> None:
        """End those that are open, and from now on every one that begins."""
        self._begun = True
        for limit in self._open:
            _end_now(limit)

    async def cut_short(self, telling: Awaitable[object], ended: Callable[[], Awaitable[None]]) -> bytes | None:
        """Await a stream for no longer than the server stays, and than until `ended` returns.

        What is to be said where it was ended before its end; None: it was not.
        """
        limit = asyncio.timeout(0 if self._begun else None)
        watching = asyncio.create_task(_end(limit, ended))
        try:
            async with limit:
                self._open.add(limit)
                await telling
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._open.discard(limit)
            watching.cancel()
        if not limit.expired():
            return None
        return FAREWELL if self._begun else CREDENTIAL_ENDED


async def _end(limit: asyncio.Timeout, ended: Callable[[], Awaitable[None]]) -> None:
    try:
        await ended()
    except Exception:  # nobody looks any more, so the stream does not go on
        log.exception("credential_unchecked")
    _end_now(limit)


def _end_now(limit: asyncio.Timeout) -> None:
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time())


class Answer:
    """A stream's answer on its way out, which another can end."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._over = False

    async def send(self, message: Message) -> None:
        """Send what the stream sends."""
        self._begun = True
        self._over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self, start: Message, word: bytes) -> None:
        """Say a last word, if there is no end yet; whoever takes nothing is not waited for."""
        if self._over:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                if not self._begun:
                    await self._send(start)
                await self._send({"type": "http.response.body", "body": word})


class Server(uvicorn.Server):
    """A server whose streams end when it begins to leave, and that leaves signals to whose process it is."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        # The library would cut the same streams off, without a word, once it noticed the signal.
        AppStatus.enable_automatic_graceful_drain = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve. Raises what the application could not begin for."""
        try:
            await super().startup(sockets)
        except SystemExit:
            if self._app.state.unopened is None:
                raise
            raise self._app.state.unopened from None
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            settings = self._app.state.desk.settings
            log.info("gateway_listening", url=f"http://{host}:{port}", authentication=not settings.open)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the streams, then wait for what is under way, but for nobody who takes nothing."""
        leaving: Leaving = self._app.state.leaving
        leaving.begin()
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.hurry()
        await super().shutdown(sockets)
        if self.server_state.connections:
            log.warning("leaving_cut", connections=len(self.server_state.connections))
