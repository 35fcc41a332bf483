"""What a store says of a snapshot that somebody has damaged."""

import pytest

from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey

WAY = "`turnwright snapshots rebuild` writes it anew from the entries"


async def refused(store: SnapshotStore, key: SnapshotKey, place: str, *, head: bool = True) -> None:
    """It is an error with its place; where not even the `head` can be read, it is not written over."""
    with pytest.raises(StoreCorrupt) as caught:
        await store.load(key)
    assert place in str(caught.value)
    assert WAY in str(caught.value)
    if head:
        with pytest.raises(StoreCorrupt):
            await store.put(key, Offer.of_value(9, {"said": "later"}))
