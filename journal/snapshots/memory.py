"""Snapshots in this process, for tests and programs that need no more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from uuid import uuid4

from turnwright.journal.errors import SnapshotGone
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Kept, Policy, checked_policy, judge, kept
from turnwright.journal.snapshots.snapshot import Head, Offer, Snapshot, SnapshotKey, whole


class MemorySnapshots:
    """Gone with the process."""

    name = "memory:"

    def __init__(self) -> None:
        self._kept: dict[SnapshotKey, tuple[Head, bytes]] = {}
        self._deleted: set[SessionKey] = set()
        self._place_id = uuid4().hex
        self._owner = ""

    async def start(self) -> None:
        """There is nothing to connect to."""

    async def stop(self) -> None:
        """What is kept stays, for who starts it again."""

    async def place_id(self) -> str:
        """See `SnapshotStore.place_id`."""
        return self._place_id

    async def owner(self, claimed_by: str = "") -> str:
        """See `SnapshotStore.owner`."""
        self._owner = self._owner or claimed_by
        return self._owner

    async def load(self, key: SnapshotKey) -> Snapshot | None:
        """See `SnapshotStore.load`."""
        found = self._kept.get(key.checked())
        return None if found is None else whole(key, *found, self._place(key))

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        """See `SnapshotStore.put`."""
        checked_policy(policy, expected_version)
        if key.checked().thread.session_key in self._deleted:
            raise SnapshotGone(self._place(key))
        stored, _ = self._kept.get(key, (None, b""))
        verdict = judge(stored, offer.checked(), policy, expected_version)
        done = kept(stored, verdict, policy, offer, self._place(key))
        if done.written:
            self._kept[key] = Head(done.version, offer.as_of_seq, offer.sha256), offer.payload
        return done

    async def remove(self, key: SnapshotKey, version: int | None = None) -> bool:
        """See `SnapshotStore.remove`."""
        found = self._kept.get(key.checked())
        if found is None or version not in (None, found[0].version):
            return False
        del self._kept[key]
        return True

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:  # noqa: ARG002 - it is remembered whole
        """See `SnapshotStore.delete_session`."""
        self._deleted.add(session.checked())
        of_it = [key for key in self._kept if key.thread.session_key == session]
        for key in of_it:
            del self._kept[key]
        return len(of_it)

    async def revive_session(self, session: SessionKey) -> None:
        """See `SnapshotStore.revive_session`."""
        self._deleted.discard(session.checked())

    async def every_key(self) -> AsyncIterator[SnapshotKey]:
        """See `SnapshotStore.every_key`."""
        for key in tuple(self._kept):
            yield key

    def _place(self, key: SnapshotKey) -> str:
        return f"{self.name}{key.canonical}"
