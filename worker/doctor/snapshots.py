"""The place of the snapshots, where there is one: whether it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator

from turnwright.journal.errors import InvalidInput, StoreError
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.settings import Settings


async def look_at_snapshots(settings: Settings) -> AsyncIterator[Finding]:
    """One finding, or none where no snapshots are kept."""
    if settings.snapshots is None:
        return
    try:
        async with open_snapshots(settings.snapshots) as store:
            await store.place_id()
            yield fine("snapshots", store.name)
    except InvalidInput as error:
        yield broken("snapshots", str(error), "workers do not start with this setting")
    except StoreError as error:
        yield doubtful("snapshots", str(error), "turns go on; what is missing there is brought once it answers")
