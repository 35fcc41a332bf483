"""A server that takes connections and never says a word."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

DEADLINE_S = 100


class Silence:
    """Made by `open_silence`."""

    def __init__(self) -> None:
        self.address = ""
        self._calls = 0
        self._called = asyncio.Condition()

    async def until_called(self, count: int) -> None:
        """Wait until so many have connected."""
        async with asyncio.timeout(DEADLINE_S), self._called:
            await self._called.wait_for(lambda: self._calls >= count)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._called:
            self._calls += 1
            self._called.notify_all()
        try:
            while await reader.read(65_536):
                continue
        finally:
            writer.transport.abort()


@asynccontextmanager
async def open_silence() -> AsyncIterator[Silence]:
    """On a port of this machine."""
    silence = Silence()
    server = await asyncio.start_server(silence._take, "127.0.0.1")
    silence.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield silence
    finally:
        server.close()
