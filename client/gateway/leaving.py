"""How streams end when the server stops: at once, behind a whole event, and with a word.

Rule: the server waits for answers that are under way, and a stream has no end to wait for. So all of them are ended
when it begins to leave; a reader comes back with the last id it got, to whichever gateway serves then.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable
from contextlib import suppress

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.types import Message, Send

FAREWELL = b": server stopping\n\n"
FAREWELL_S = 1.0


class Leaving:
    """The streams that are open, to be ended together."""

    def __init__(self) -> None:
        self._open: set[asyncio.Timeout] = set()
        self._begun = False

    def begin(self) -> None:
        """End those that are open, and from now on every one that begins."""
        self._begun = True
        now_s = asyncio.get_running_loop().time()
        for limit in self._open:
            limit.reschedule(now_s)

    async def cut_short(self, telling: Awaitable[object]) -> bool:
        """Await a stream for no longer than the server stays; whether it was ended before its end."""
        limit = asyncio.timeout(0 if self._begun else None)
        try:
            async with limit:
                self._open.add(limit)
                await telling
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._open.discard(limit)
        return limit.expired()


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

    async def end(self, start: Message) -> None:
        """Say farewell, if there is no end yet; whoever takes nothing is not waited for."""
        if self._over:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                if not self._begun:
                    await self._send(start)
                await self._send({"type": "http.response.body", "body": FAREWELL})


class Server(uvicorn.Server):
    """A server whose streams end when it begins to leave."""

    def __init__(self, config: uvicorn.Config, leaving: Leaving) -> None:
        super().__init__(config)
        self._leaving = leaving
        # The library would cut the same streams off, without a word, once it noticed the signal.
        AppStatus.enable_automatic_graceful_drain = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the streams, then wait for what is under way."""
        self._leaving.begin()
        await super().shutdown(sockets)
