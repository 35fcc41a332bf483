"""A worker keeps its place at a journal while it has it, and ends its work when the journal is another one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from temporalio.client import Client

from tests.integration.worker.conftest import DEADLINE_S, Sql
from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import JournalRenamed, note_ended, renew, unended_ids
from turnwright.worker.engine import Engine
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.engine import identify

pytestmark = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)  # see test_serving.py for the stores
PRESENCE = "w-1"


@pytest.fixture
async def client(temporal: TemporalServer) -> Client:
    return await temporal.connect()


@asynccontextmanager
async def serving(driver: Driver, client: Client) -> AsyncIterator[Engine]:
    """An engine that looks all the time."""
    engine = Engine(driver, client, lambda: PRESENCE, await Journal(driver).journal_id())
    engine.interval_s = 0.01
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


async def test_a_worker_whose_place_was_lost_with_a_restored_backup_takes_it_again(
    driver: Driver, client: Client, sql: Sql
) -> None:
    hold = await driver.hold_presence(PRESENCE, {}, lease_s=60)
    async with serving(driver, client), asyncio.timeout(DEADLINE_S):
        for _ in range(2):
            await sql("DELETE FROM serving")
            while not await sql("SELECT * FROM serving"):
                await asyncio.sleep(0.01)
    assert await sql("SELECT * FROM serving") == []
    await hold.release()


async def test_a_worker_that_outlived_the_id_of_its_journal_ends_its_work_and_what_it_began_meanwhile_is_ended(
    driver: Driver, client: Client
) -> None:
    """It holds no presence here, as one that is frozen or cut off does not: so the journal gets the new id."""
    before, engine = await Journal(driver).journal_id(), await identify(client)
    async with serving(driver, client) as outliving:
        assert (await driver.write(partial(renew, "new"))).now == "new"
        await driver.write(partial(note_ended, before, engine))
        async with asyncio.timeout(DEADLINE_S):
            why = await outliving.evicted
        assert isinstance(why, JournalRenamed)
        assert (why.earlier, why.now) == (before, "new")
        assert await driver.read(partial(unended_ids, engine)) == (), "it still works"
    assert await driver.read(partial(unended_ids, engine)) == (before,)
    late = Engine(driver, client, lambda: PRESENCE, before)
    with pytest.raises(JournalRenamed):
        await late.start()
