"""Threads whose states are brought outside, and a place that fails."""

import asyncio
from collections.abc import Collection

from tests.integration.journal.conftest import KEY, Played
from turnwright.journal.errors import StoreError
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Text
from turnwright.journal.snapshots.deciding import Kept, Policy
from turnwright.journal.snapshots.memory import MemorySnapshots
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.snapshot import Offer, Snapshot, SnapshotKey

DEADLINE_S = 30


class Fragile(MemorySnapshots):
    """Is away, or refuses some threads or the deletion of some sessions, as long as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: dict[str, StoreError] = {}
        self.asked = 0

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        self.asked += 1
        error = self.fails.get(key.thread.thread) or self.fails.get("*")
        if error is not None:
            raise error
        return await super().put(key, offer, policy=policy, expected_version=expected_version)

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:
        error = self.fails.get(session.session)
        if error is not None:
            raise error
        return await super().delete_session(session, threads)


async def turn(played: Played, text: str = "hello", key: ThreadKey = KEY) -> None:
    """A turn from its submit to its end."""
    made = await played.submit(text, key)
    epoch = await played.claim(made, key)
    await played.ask(made, epoch, key)
    await played.answer(made, epoch, Text(text=f"said to {text}"), key=key)


async def there(played: Played, store: SnapshotStore, key: ThreadKey = KEY) -> Snapshot:
    """The thread's snapshot, once it is that of the state now."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            found, row = await store.load(SnapshotKey(key)), await played.journal.thread(key)
            if found is not None and row is not None and found.as_of_seq == row.seq:
                return found
            await asyncio.sleep(0.02)
