"""The watcher stops the operations of this process that the journal has given up, whatever else goes wrong."""

import asyncio
from contextlib import ExitStack

from tests.integration.worker.conftest import Seeds, Sql, until
from turnwright.activities.runtime.settings import ActivitySettings
from turnwright.activities.runtime.watcher import Watched, Watcher
from turnwright.journal.commands import CancelTurn
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms

SETTINGS = ActivitySettings(watch_interval_s=0.01, watch_poll_s=0.05)


async def watched(journal: Journal, key: ThreadKey) -> Watched:
    row = await journal.thread(key)
    assert row is not None
    return Watched(key, row.id, turn_id(key, "first"), step=1, ordinal=1, seen_seq=row.seq)


async def cancel(journal: Journal, key: ThreadKey) -> None:
    receipt = await journal.execute(key, CancelTurn(request_id="cancel", turn_id=turn_id(key, "first")))
    assert receipt.status == "accepted"


async def test_a_thread_nobody_can_read_keeps_no_other_from_its_cancel(
    driver: Driver, seeds: Seeds, journal: Journal, sql: Sql
) -> None:
    journal.terms = Terms(presence="me")
    await driver.hold_presence("me", {}, lease_s=60)
    names = [f"thread-{n}" for n in range(8)]
    running = [await watched(journal, await seeds.calling(name, "me")) for name in names]
    for attempt in running:
        await cancel(journal, attempt.key)
    await sql("UPDATE threads SET control = $1 WHERE thread = 'thread-3'", b"{")
    watcher = Watcher(journal, SETTINGS)
    with ExitStack() as all_of_them:
        for attempt in running:
            all_of_them.enter_context(watcher.watching(attempt))
        await watcher.look()
    assert [attempt.stop.why for attempt in running] == ["cancelled"] * 3 + [None] + ["cancelled"] * 4


async def test_it_may_be_started_and_stopped_twice_and_started_again(
    driver: Driver, seeds: Seeds, journal: Journal
) -> None:
    journal.terms = Terms(presence="me")
    await driver.hold_presence("me", {}, lease_s=60)
    attempt = await watched(journal, await seeds.calling("main", "me"))
    watcher = Watcher(journal, SETTINGS)
    for _ in range(2):
        watcher.start()
        watcher.start()
        assert [task.get_name() for task in asyncio.all_tasks()].count("operation-watcher") == 1
        await watcher.stop()
        await watcher.stop()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "operation-watcher"]
    watcher.start()
    with watcher.watching(attempt):
        await cancel(journal, attempt.key)
        await until(lambda: attempt.stop.why is not None)
    await watcher.stop()
    assert attempt.stop.why == "cancelled"
