"""A way to a PostgreSQL that a test can break: a TCP port that passes everything on, until it does not.

Cut, connections end and new ones are refused, as when a server is restarted. Silent, connections stay and nothing
comes through, as when a network swallows packets; mended, what was held back arrives.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

CHUNK_BYTES = 65_536


class Proxy:
    """Made by `open_proxy`."""

    def __init__(self, journal_url: str) -> None:
        self._parts = urlsplit(journal_url)
        self._options = parse_qs(self._parts.query)
        self._port = 0
        self._server: asyncio.Server | None = None
        self._open = asyncio.Event()
        self._passing: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The journal, by this way."""
        schema = self._options["schema"][0]
        return f"postgresql://{self._parts.username}@127.0.0.1:{self._port}{self._parts.path}?schema={schema}"

    async def mend(self) -> None:
        """Take connections and pass on."""
        self._open.set()
        if self._server is None:
            await self._listen()

    async def silence(self) -> None:
        """Hold everything back."""
        self._open.clear()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Drop every connection and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for passing in list(self._passing):
            passing.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            socket = f"{self._options['host'][0]}/.s.PGSQL.{self._options.get('port', ['5432'])[0]}"
            far_reader, far_writer = await asyncio.open_unix_connection(socket)
            try:
                ways = (self._copy(reader, far_writer), self._copy(far_reader, writer))
                await asyncio.wait([asyncio.create_task(way) for way in ways], return_when=asyncio.FIRST_COMPLETED)
            finally:
                far_writer.transport.abort()
        finally:
            writer.transport.abort()
            self._passing.discard(task)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(CHUNK_BYTES):
            await self._open.wait()
            writer.write(chunk)
            await writer.drain()


@asynccontextmanager
async def open_proxy(journal_url: str) -> AsyncIterator[Proxy]:
    """A way to the server of this journal."""
    proxy = Proxy(journal_url)
    await proxy.mend()
    try:
        yield proxy
    finally:
        await proxy.cut()
