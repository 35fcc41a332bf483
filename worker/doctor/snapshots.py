"""The place of the snapshots, where there is one: whether it answers, and is this journal's."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import InvalidInput, SnapshotsTaken, StoreError
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.projecting import Projection
from turnwright.journal.store import Journal
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.settings import Settings


async def look_at_snapshots(settings: Settings) -> AsyncIterator[Finding]:
    """One finding, or none where no snapshots are kept."""
    if settings.snapshots is None:
        return
    try:
        async with open_snapshots(settings.snapshots) as store:
            await store.place_id()
            taken = await _taken(settings, store)
            if taken is None:
                yield fine("snapshots", store.name)
            else:
                yield doubtful("snapshots", str(taken), "turns go on; none of this journal's states is brought there")
    except InvalidInput as error:
        yield broken("snapshots", str(error), "workers do not start with this setting")
    except StoreError as error:
        yield doubtful("snapshots", str(error), "turns go on; what is missing there is brought once it answers")


async def _taken(settings: Settings, store: SnapshotStore) -> SnapshotsTaken | None:
    """That it is another journal's. A journal that does not answer has a finding of its own."""
    file = settings.journal_file
    if file is not None and not file.exists():
        return None
    driver = open_driver(settings.journal_url)
    with contextlib.suppress(StoreError):
        await driver.start()
        try:
            await Projection(Journal(driver), store).enter(claim=False)
        except SnapshotsTaken as error:
            return error
        finally:
            await driver.stop()
    return None
