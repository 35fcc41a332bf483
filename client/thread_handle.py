"""What every part of a thread's handle needs: whose it is, how it is asked, how it is commanded."""

from __future__ import annotations

from turnwright.client.access import Access, How
from turnwright.client.errors import NotFound
from turnwright.journal.commands import ClientCommand, Receipt
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.overview import ThreadSeen


class ThreadHandle:
    """A thread by its key; `receipt` is that of the fork that made it, if this handle comes from there."""

    def __init__(self, access: Access, key: ThreadKey, receipt: Receipt | None = None) -> None:
        self.key = key.checked()
        self.receipt = receipt
        self._access = access

    def __repr__(self) -> str:
        return f"Thread({self.key.canonical})"

    async def status(self) -> ThreadSeen:
        """The thread now: its pause, its active turn, its queue. Raises `NotFound`."""
        seen = await self._access.backend.thread(self.key)
        if seen is None:
            raise NotFound.thread(self.key)
        return seen

    async def _command(self, command: ClientCommand, how: How) -> Receipt:
        return await self._access.command(self.key, command, check=how.get("check", True))
