"""A client on a host of its own that reads a session through a gateway, in each way there is, and keeps what it got.

    python -m tests.faults.hosts.reader GATEWAY_URL TOKEN FOLDER

Rule: each way remembers one number, the last position it got, and comes back with it whatever breaks.
"""

import asyncio
import sys
from pathlib import Path

import httpx2

from tests.integration.client.asking import events
from turnwright.client import Client
from turnwright.journal.errors import StoreUnavailable

WAYS = ("client", "stream")
AGAIN_S = 0.1
SILENCE_S_MAX = 2.0


class Kept:
    """What came by one way, a line each."""

    def __init__(self, folder: Path, way: str) -> None:
        self._file = folder / f"read.{way}"
        self._breaks = folder / f"broke.{way}"
        self.last = 0

    def add(self, position: int, entry_id: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{position} {entry_id}\n")
        self.last = position

    def add_break(self) -> None:
        """What it came by has broken."""
        self._breaks.touch()

    @property
    def broke(self) -> bool:
        return self._breaks.exists()

    def all(self) -> list[tuple[int, str]]:
        """Position and entry, as they came; a last line that is still being written is left out."""
        text = self._file.read_text("utf-8") if self._file.exists() else ""
        whole = (line.split(" ", 1) for line in text.splitlines(keepends=True) if line.endswith("\n"))
        return [(int(position), entry_id.strip()) for position, entry_id in whole]


async def follow(url: str, token: str, kept: Kept) -> None:
    """As an application does that uses the client."""
    async with Client.connect(gateway_url=url, token=token) as client:
        while True:
            try:
                async for located in client.session(None, "s").follow(kept.last):
                    kept.add(located.entry.position, located.entry.entry_id)
            except StoreUnavailable:
                kept.add_break()
                await asyncio.sleep(AGAIN_S)


async def listen(url: str, token: str, kept: Kept) -> None:
    """As a page in a browser does, which takes a silent stream for a dead one."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=f"{url}/v1", headers=headers, timeout=SILENCE_S_MAX) as asked:
        while True:
            try:
                async with events(asked, "/sessions/s/events", anonymous=True, last=kept.last) as stream:
                    async for event in stream:
                        kept.add(int(event.id), event.data["entry"]["entry_id"])
            except httpx2.TransportError:
                kept.add_break()
                await asyncio.sleep(AGAIN_S)


async def read(url: str, token: str, folder: Path) -> None:
    """Both, until killed."""
    await asyncio.gather(follow(url, token, Kept(folder, "client")), listen(url, token, Kept(folder, "stream")))


if __name__ == "__main__":
    asyncio.run(read(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
