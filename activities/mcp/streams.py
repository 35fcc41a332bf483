"""The two streams of a session, with a look at what goes by.

Rule: nothing is kept up or changed. The end of what comes in is the other side's end, and whoever speaks is told at
once, so that nothing is sent to nobody.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextvars import Context
from types import TracebackType
from typing import Self

import anyio
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from turnwright.activities.mcp.fate import Fate
from turnwright.activities.mcp.under_way import UnderWay


class _Stream(ABC):
    """One that is closed at the end of its block."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming(_Stream):
    """What the server says."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], fate: Fate, under_way: UnderWay) -> None:
        self._read = read
        self._fate = fate
        self._under_way = under_way

    @property
    def last_context(self) -> Context | None:
        """That of the request in whose answer the last message came, where there is such a thing."""
        context: Context | None = getattr(self._read, "last_context", None)
        return context

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        try:
            message = await self._read.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._fate.gone.set()
            raise
        self._under_way.received(message)
        return message

    async def aclose(self) -> None:
        """Listen no more."""
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Outgoing(_Stream):
    """What the server is told."""

    def __init__(self, write: WriteStream[SessionMessage], under_way: UnderWay) -> None:
        self._write = write
        self._under_way = under_way

    async def send(self, message: SessionMessage, /) -> None:
        """Tell it; one that is cancelled meanwhile may have been heard."""
        self._under_way.sent(message)
        await self._write.send(message)

    async def aclose(self) -> None:
        """Say no more."""
        await self._write.aclose()
