"""Opening a journal that must be there already.

Rule: a client never makes one by accident. A store that opens any path leaves an empty file behind in the wrong
folder, and whoever looks there finds no turns and no reason.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import KeyMissing, StoreError, StoreUnavailable
from turnwright.journal.sealing.sealer import NO_KEYS
from turnwright.journal.statements import migrations
from turnwright.journal.store import Journal
from turnwright.journal.store_sealing import is_sealed


async def open_journal(url: str, *, migrate: bool = False, keyless: bool = False) -> Journal:
    """The journal at that URL, ready for commands; with `migrate` its tables are made or updated first.

    `keyless`: without its keys will do, for what looks at no content.

    Raises:
        InvalidInput: the URL names no store.
        StoreUnavailable: the store is not there or cannot be reached.
        StoreError: its tables are not those of this version.
        KeyMissing: it is sealed, and the URL names no keys.
    """
    driver = open_driver(url)
    path: Path | None = getattr(driver, "path", None)
    if path is not None and not migrate and not await asyncio.to_thread(path.exists):
        raise StoreUnavailable(f"there is no journal at {path}; run `turnwright journal migrate`, or `turnwright dev`")
    await driver.start()
    try:
        version = await (driver.migrate() if migrate else driver.schema_version())
        latest = migrations(driver.dialect)[-1].version
        if version < latest:
            raise StoreError(
                f"the journal's tables are at version {version}, this program needs {latest}; "
                "run `turnwright journal migrate`"
            )
        if not keyless and not driver.sealer.seals and await is_sealed(driver):
            raise KeyMissing(NO_KEYS)
    except BaseException:
        await driver.stop()
        raise
    return Journal(driver)
