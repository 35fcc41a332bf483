"""The schema: made by migrations only, described in one place, the same on both ways."""

import asyncio
from pathlib import Path

import pytest

from tests.integration.stores.conftest import Look, look_at
from tests.integration.stores.seeds import remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import StoreError
from turnwright.journal.script import rows
from turnwright.journal.statements import migrations, statements

pytestmark = pytest.mark.bare


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
        *(
            "append",
            "append_with_texts",
            "beat",
            "delete_dead_presences",
            "delete_presence",
            "liveness",
            "notify",
            "presences",
        ),
        "presence_names",
        *("enlist", "enlist_place", "try_lock", "unlock"),
    }
    shared = [set(statements(dialect)) - own[dialect] for dialect in ("sqlite", "postgres")]
    assert shared[0] == shared[1]


async def test_a_store_from_any_older_version_ends_like_one_from_scratch(driver: Driver, journal_url: str) -> None:
    scratch = await schema_of(journal_url)
    for version in range(len(migrations(driver.dialect))):
        url = beside(journal_url, f"from_{version}")
        older = open_driver(url)
        await older.start()
        assert await older.migrate(to=version) == version
        await older.migrate()
        assert await schema_of(url) == scratch
        await older.stop()


async def test_both_stores_have_the_same_columns(bare_sqlite_url: str, bare_postgres_url: str) -> None:
    columns = []
    for url in (bare_sqlite_url, bare_postgres_url):
        driver = open_driver(url)
        await driver.start()
        await driver.migrate()
        columns.append({(table, column) for table, column, *_ in await columns_of(url)})
        await driver.stop()
    only_postgres = columns[1] - columns[0]
    # SQLite keeps its index of words in tables, PostgreSQL in a column.
    assert {table.partition("_words")[0] for table, _ in columns[0] - columns[1]} == {"text"}
    assert {table for table, _ in only_postgres} == {"inbox", "presences", "sessions", "texts", "threads"}
    assert {column for table, column in only_postgres if table != "presences"} == {"key_digest", "vector"}


def test_an_append_with_texts_is_an_append_with_one_part_more() -> None:
    plain, longer = (statements("postgres")[name].sql for name in ("append", "append_with_texts"))
    ahead, _, end = plain.rpartition("\n)\n")
    assert longer.startswith(ahead)
    assert longer.endswith(f"\n)\n{end}")


def beside(journal_url: str, name: str) -> str:
    return journal_url.replace("journal.db", f"{name}.db") if "sqlite" in journal_url else f"{journal_url}_{name}"


async def columns_of(url: str) -> list[tuple[str, ...]]:
    if url.startswith("sqlite"):
        return await look_at(
            url,
            'SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_master m'
            " JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY 1, 2",
        )
    return await look_at(
        url,
        "SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity"
        " FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2",
    )


async def schema_of(url: str) -> list[tuple[str, ...]]:
    """Everything about tables, columns, storage and indexes that a migration could get wrong."""
    if url.startswith("sqlite"):
        return await look_at(url, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
    indexes = await look_at(
        url,
        "SELECT indexname, replace(indexdef, current_schema(), '') FROM pg_indexes"
        " WHERE schemaname = current_schema() ORDER BY 1",
    )
    storage = await look_at(
        url,
        "SELECT c.relname, a.attname, a.attstorage::text, c.reloptions::text, a.attnum::text FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY 1, 2",
    )
    return await columns_of(url) + indexes + storage
