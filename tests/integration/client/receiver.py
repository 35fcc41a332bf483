"""A receiver of webhooks: a real HTTP server that answers as it is told, and remembers what came."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.types import Receive, Scope, Send

from tests.integration.client.gateway_server import LOOK_S, running
from turnwright.client.webhooks import Delivery, verify

HANG = 0


@dataclass(frozen=True, slots=True)
class Posted:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def position(self) -> int:
        return int(self.headers["webhook-id"].rpartition("_")[2])


@dataclass
class Receiver:
    """Answers with the next of `answers`, and when there is none with 204, once it is `open`. `HANG`: not at all."""

    posted: list[Posted] = field(default_factory=list)
    answers: deque[int] = field(default_factory=deque)
    more: dict[str, str] = field(default_factory=dict)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.open.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.posted.append(Posted(scope["path"], headers, body))
        status = self.answers.popleft() if self.answers else 204
        if status == HANG:
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await self.open.wait()
        said = [(name.encode(), value.encode()) for name, value in self.more.items()]
        await send({"type": "http.response.start", "status": status, "headers": said})
        await send({"type": "http.response.body", "body": b""})

    async def until(self, count: int) -> list[Posted]:
        """What came, once there are so many."""
        while len(self.posted) < count:
            await asyncio.sleep(LOOK_S)
        return self.posted

    def deliveries(self, secret: str) -> list[Delivery]:
        """What came, each with its signature verified."""
        return [verify(secret, one.headers, one.body) for one in self.posted]

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Its URL, while it listens."""
        server = uvicorn.Server(uvicorn.Config(self, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
        async with running(server, port) as url:
            yield url
