"""The schema: made by migrations only, described in one place, the same on both ways."""

import asyncio
from pathlib import Path

import pytest

from tests.integration.stores.conftest import Look
from tests.integration.stores.seeds import remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import StoreError
from turnwright.journal.script import rows
from turnwright.journal.statements import migrations, statements


async def test_an_empty_store_is_at_version_0_and_says_what_to_do(journal_url: str) -> None:
    driver = open_driver(journal_url)
    await driver.start()
    assert await driver.schema_version() == 0
    with pytest.raises(StoreError, match="turnwright journal migrate"):
        await driver.write(lambda: remember("a"))
    await driver.stop()


async def test_migrating_again_changes_nothing(driver: Driver, look: Look) -> None:
    newest = len(migrations(driver.dialect))
    await driver.write(lambda: remember("a"))
    journal_id = await driver.read(lambda: rows("journal_id"))
    assert await driver.migrate() == newest
    assert await driver.schema_version() == newest
    assert await driver.read(lambda: rows("journal_id")) == journal_id
    assert await driver.read(lambda: remembers("a")) == [True]
    assert await look("SELECT count(*) FROM migrations") == [(newest,)]


async def test_processes_that_migrate_at_once_do_it_once(journal_url: str, look: Look) -> None:
    drivers = [open_driver(journal_url) for _ in range(4)]
    await asyncio.gather(*(driver.start() for driver in drivers))
    versions = await asyncio.gather(*(driver.migrate() for driver in drivers))
    assert set(versions) == {len(migrations(drivers[0].dialect))}
    assert await look("SELECT count(*) FROM meta") == [(1,)]
    await asyncio.gather(*(driver.stop() for driver in drivers))


async def test_every_journal_has_an_id_of_its_own(driver: Driver, tmp_path: Path) -> None:
    second = open_driver(f"sqlite:///{tmp_path}/second.db")
    await second.start()
    await second.migrate()
    [(one,)] = await driver.read(lambda: rows("journal_id"))
    [(two,)] = await second.read(lambda: rows("journal_id"))
    assert one != two
    await second.stop()


async def test_both_dialects_have_the_same_statements_where_scripts_use_them(driver: Driver) -> None:
    own = {"sqlite": {"append_head", "append_counter", "append_entry", "append_payload"}}
    own["postgres"] = {
        *("append", "beat", "delete_dead_presences", "delete_presence", "liveness", "notify", "presences"),
        *("try_lock", "unlock"),
    }
    shared = [set(statements(dialect)) - own[dialect] for dialect in ("sqlite", "postgres")]
    assert shared[0] == shared[1]
