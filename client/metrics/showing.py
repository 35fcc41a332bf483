"""What a process shows of itself, where it was given a port for that; else nothing is counted and nothing loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from turnwright.client.metrics.address import Address
from turnwright.client.metrics.beside import Beside
from turnwright.journal.store import Journal

if TYPE_CHECKING:
    from turnwright.client.metrics.listener import Listener
    from turnwright.client.metrics.meters import Meters
    from turnwright.client.metrics.page import Page


class Showing:
    """A context manager around a process's work.

    Args:
        address: where to listen; None: nowhere.
        ready: why the process cannot do its work now; empty: it can.
        beside: what else it shows.
    """

    def __init__(self, address: Address | None, ready: Callable[[], str], beside: Beside) -> None:
        self._meters: Meters | None = None
        self._page: Page | None = None
        self._listener: Listener | None = None
        if address is None:
            return
        from turnwright.client.metrics.listener import Listener  # noqa: PLC0415 - only who shows needs a server
        from turnwright.client.metrics.meters import Meters  # noqa: PLC0415
        from turnwright.client.metrics.page import Page  # noqa: PLC0415

        self._meters = Meters()
        self._page = Page(self._meters, beside)
        self._listener = Listener(self._page, ready, address.host, address.port)

    def begin(self, journal: Journal) -> None:
        """Count this journal's commits from now on, and show its numbers."""
        if self._meters is not None and self._page is not None:
            journal.driver.observers.append(self._meters.committed)
            journal.delays.observers.append(self._meters.streamed)
            self._page.journal = journal

    def know(self, agents: Iterable[str], tools: Iterable[str]) -> None:
        """Show zeros for these until something is counted of them."""
        if self._meters is not None:
            self._meters.know(agents, tools)

    def end(self) -> None:
        """The journal is about to be closed."""
        if self._page is not None:
            self._page.journal = None

    async def __aenter__(self) -> Self:
        """Listen. Raises `InvalidInput` if the address cannot be listened on."""
        if self._listener is not None:
            await self._listener.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None:
            await self._listener.stop()
