"""Snapshots: the state of a thread's agent, kept outside the journal for whoever reads it there.

Rule: a snapshot is a projection with the `as_of_seq` it is true for. Deleting all of them loses nothing, an older one
never replaces a newer one, and what cannot be read is an error, never an empty state.

    snapshot.py   what is kept, and what is offered
    deciding.py   whether an offer is kept, as a pure function
    port.py       what every store can do; one suite of tests for all (`tests/integration/snapshots`)
    opening.py    from a URL to its store: memory, files, Redis, or a database through SQLAlchemy
"""

from turnwright.journal.snapshots.deciding import Kept
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.snapshot import Offer, Snapshot, SnapshotKey

__all__ = ["Kept", "Offer", "Snapshot", "SnapshotKey", "SnapshotStore", "open_snapshots"]
