"""The port of a snapshot store.

Rule: whatever a store is asked is one step that nobody comes between. `StoreUnavailable` leaves open whether a
write was done: repeat it, the same state is recognised. A deleted session takes nothing any more, however late.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Protocol

from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Kept, Policy
from turnwright.journal.snapshots.snapshot import Offer, Snapshot, SnapshotKey


class SnapshotStore(Protocol):
    """Where snapshots are kept."""

    @property
    def name(self) -> str:
        """Which store it is, without its password."""
        ...

    async def start(self) -> None:
        """Connect, and make what is needed there. Raises `StoreUnavailable` or `StoreError`."""
        ...

    async def stop(self) -> None:
        """Disconnect. Harmless twice."""
        ...

    async def place_id(self) -> str:
        """What the place was called when it was made: another one after all of it was lost.

        Raises `StoreUnavailable`.
        """
        ...

    async def owner(self, claimed_by: str = "") -> str:
        """The id of the journal whose place it is, empty: nobody's; then it is that of `claimed_by` from now on.

        Raises `StoreUnavailable`.
        """
        ...

    async def load(self, key: SnapshotKey) -> Snapshot | None:
        """The snapshot; None: there is none.

        Raises:
            StoreCorrupt: what is there is not what was written; the message names the place.
            StoreUnavailable: the store does not answer.
        """
        ...

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        """Keep a state, unless a newer one is there.

        `expected_version`: only if that version is there, 0 for none; without it, whatever is there.
        `keep_newer` lets what is newer by its `as_of_seq` stay, without an error; `fail` raises.

        Raises:
            SnapshotConflict: under `fail`: a newer one, or another version, is there.
            SnapshotGone: the session was deleted.
            StoreCorrupt: what is there cannot be read, and was left.
            StoreUnavailable: the store does not answer; it may have been kept.
        """
        ...

    async def remove(self, key: SnapshotKey, version: int | None = None) -> bool:
        """Take a snapshot away, readable or not, if it is of that version (None: any); whether it was there."""
        ...

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:
        """Take away all that is kept of a session; returns how many. Nothing of `threads` is taken any more."""
        ...

    async def revive_session(self, session: SessionKey) -> None:
        """Forget that a session was deleted; for a journal that was put back to before."""
        ...

    def every_key(self) -> AsyncIterator[SnapshotKey]:
        """Keys of all snapshots, in any order, now and then one twice; one whose key cannot be read is passed over."""
        ...
