"""What the journal uses of asyncpg, typed; asyncpg itself ships no types.

Rule: nothing here runs. `Connection` is what `asyncpg.connect` and a pool's `acquire` give.
"""

from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Connection(Protocol):
    """A session of the server."""

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:  # noqa: ASYNC109 - its name
        """Run it; without arguments it may be several statements."""
        ...

    async def executemany(self, command: str, args: Iterable[Iterable[Any]]) -> None:
        """Run it for each row of arguments."""
        ...

    async def fetch(self, query: str, *args: object, timeout: float | None = None) -> list[tuple[Any, ...]]:  # noqa: ASYNC109
        """Run it; its rows (records, which behave as tuples)."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:  # noqa: ANN401 - one value of any type
        """Run it; the first value."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[None]:
        """A block that commits at its end."""
        ...

    async def add_listener(self, channel: str, callback: Callable[[Any, int, str, Any], None]) -> None:
        """LISTEN; the callback gets connection, server process, channel and payload."""
        ...

    def add_termination_listener(self, callback: Callable[[Any], None]) -> None:
        """Called once when the session is over."""
        ...

    def get_server_pid(self) -> int:
        """The server process of this session."""
        ...

    def is_closed(self) -> bool:
        """Whether the session is over."""
        ...

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, as of the server's last answer."""
        ...

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - its name
        """Say goodbye and close."""
        ...

    def terminate(self) -> None:
        """Close without goodbye."""
        ...


class Pool(Protocol):
    """Sessions to take and give back."""

    def acquire(self, *, timeout: float | None = None) -> Coroutine[Any, Any, Connection]:
        """Take one, waiting that long for one to be free."""
        ...

    async def expire_connections(self) -> None:
        """Give none of those that are there now to anybody again."""
        ...

    async def release(self, connection: Connection) -> None:
        """Give it back."""
        ...

    async def close(self) -> None:
        """Wait until all are given back and close them."""
        ...

    def terminate(self) -> None:
        """Close them now."""
        ...
