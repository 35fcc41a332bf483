"""Code works on with tables that a newer version has migrated: what is added there, it leaves out."""

import pytest

from tests.integration.journal.conftest import KEY, Played, Sql
from turnwright.client.opening import open_journal
from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreError
from turnwright.journal.messages import Text
from turnwright.journal.statements import migrations
from turnwright.journal.store_verify import verify


async def migrate_beyond(sql: Sql, newest: int) -> None:
    """As a version would that knows one migration more."""
    await sql("CREATE TABLE moods (thread_id bigint PRIMARY KEY, mood text NOT NULL)")
    for table in ("sessions", "threads", "turns", "entries"):
        await sql(f"ALTER TABLE {table} ADD COLUMN mood text NOT NULL DEFAULT 'calm'")
    await sql("INSERT INTO migrations VALUES ($1, $2, 0)", newest + 1, f"{newest + 1:04}_moods")


async def test_a_turn_goes_on_while_the_tables_are_migrated_by_a_newer_version(
    played: Played, driver: Driver, sql: Sql, journal_url: str
) -> None:
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await migrate_beyond(sql, len(migrations(driver.dialect)))
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="done"))
    assert (await played.journal.entries(KEY))[-1].type == "turn.completed"

    opened = await open_journal(journal_url)
    assert await opened.entries(KEY) == await played.journal.entries(KEY)
    await Played(opened).submit("two")
    assert [finding async for proof in verify(opened) for finding in proof.findings] == []
    assert await opened.driver.migrate() == len(migrations(driver.dialect)) + 1
    await opened.close()


async def test_newer_code_says_what_to_do_about_older_tables(driver: Driver, sql: Sql, journal_url: str) -> None:
    newest = len(migrations(driver.dialect))
    await sql("DELETE FROM migrations WHERE version = $1", newest)
    with pytest.raises(StoreError, match=rf"at version {newest - 1}, this program needs {newest}; .*journal migrate"):
        await open_journal(journal_url)
