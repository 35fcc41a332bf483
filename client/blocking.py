"""The client for code that does not await: scripts and notebooks.

    with BlockingClient.connect(journal_url="sqlite:///.turnwright/journal.db") as client:
        session = client.session("alice", "trip to Oslo")
        session.create(exist_ok=True)
        print(session.submit("Book a train.", agent="travel").result().text)

Rule: nothing is written twice. Each method is the one of the async client, carried out on a loop in a thread of its
own while the caller waits; its handles come back wrapped likewise, and what it iterates over is iterated over plainly.
`blocking.pyi` says the types; a test holds it against the async client.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, Self, TypeVar

from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn

T = TypeVar("T")


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="turnwright-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it; an interrupt of the waiting one stops it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def closed(self) -> bool:
        """Whether the thread has ended."""
        return self._loop.is_closed()

    def close(self) -> None:
        """End the thread. Harmless twice."""
        if not self.closed:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Blocking:
    """A handle of the async client whose methods wait."""

    def __init__(self, handle: object, loop: _Loop) -> None:
        self._handle = handle
        self._loop = loop

    def __repr__(self) -> str:
        return f"Blocking{self._handle!r}"

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._handle) if not name.startswith("_")]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - typed in the stub
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._handle, name)
        return self._waiting(found) if callable(found) else self._wrapped(found)

    def _waiting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def wait(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the method has it
            given = method(*map(_unwrapped, args), **{name: _unwrapped(value) for name, value in kwargs.items()})
            if inspect.iscoroutine(given):
                return self._wrapped(self._loop.run(given))
            return self._iterated(given) if isinstance(given, AsyncIterator) else self._wrapped(given)

        return wait

    def _iterated(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Each item when it is asked for; whoever stops early ends the reading, too."""
        try:
            while True:
                try:
                    yield self._loop.run(_next_of(items))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run(_end_of(items))

    def _wrapped(self, value: Any) -> Any:  # noqa: ANN401 - any result
        waits = next((waits for handle, waits in _WAITING.items() if isinstance(value, handle)), None)
        return value if waits is None else waits(value, self._loop)


class BlockingSession(Blocking):
    """A session."""


class BlockingThread(Blocking):
    """A thread."""


class BlockingTurn(Blocking):
    """A turn."""


_WAITING: dict[type, type[Blocking]] = {Session: BlockingSession, Thread: BlockingThread, Turn: BlockingTurn}


class BlockingClient(Blocking):
    """The client itself; it is closed at the end of a `with`."""

    @classmethod
    def connect(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401 - as `Client.connect`
        """Connect as `Client.connect` does, and wait for it."""
        loop = _Loop()
        try:
            return cls(loop.run(_connected(*args, **kwargs)), loop)
        except BaseException:
            loop.close()
            raise

    def close(self) -> None:
        """Disconnect, and end the thread. Harmless twice."""
        handle = self._handle
        assert isinstance(handle, Client)
        if not self._loop.closed:
            self._loop.run(handle.close())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _connected(*args: Any, **kwargs: Any) -> Client:  # noqa: ANN401 - as `Client.connect`
    return await Client.connect(*args, **kwargs)


async def _next_of(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _end_of(items: AsyncIterator[Any]) -> None:
    if inspect.isasyncgen(items):
        await items.aclose()


def _unwrapped(value: Any) -> Any:  # noqa: ANN401 - any argument
    return value._handle if isinstance(value, Blocking) else value  # noqa: SLF001 - its own kind
