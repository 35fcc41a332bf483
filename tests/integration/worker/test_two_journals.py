"""Two journals on one Temporal: their workers keep out of each other's way, or say that they do not."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.runtime.scripts import say
from tests.integration.worker.stack import Stack
from turnwright.client.client import Client
from turnwright.client.settings import ClientSettings
from turnwright.journal.drivers import open_driver
from turnwright.journal.store import Journal
from turnwright.worker.temporal_server import TemporalServer

pytestmark = pytest.mark.slow


@pytest.fixture
async def first(tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, f"sqlite:///{tmp_path}/first.db", temporal) as stack:
        yield stack


async def with_queue(stack: Stack, journal_url: str, task_queue: str | None) -> Stack:
    """The same Temporal with this journal, whose client was told this task queue."""
    settings = ClientSettings(
        journal_url=journal_url, task_queue=task_queue, temporal_address=stack.server.address, wake=True
    )
    client = await stack.exits.enter_async_context(Client.connect(settings, migrate=True))
    return replace(stack, journal_url=journal_url, client=client)


async def journal_id(journal_url: str) -> str:
    driver = open_driver(journal_url)
    await driver.start()
    try:
        return await Journal(driver).journal_id()
    finally:
        await driver.stop()


async def test_workers_of_two_journals_on_one_temporal_get_no_task_of_the_other(first: Stack) -> None:
    second = await with_queue(first, f"sqlite:///{first.folder}/second.db", None)
    # Nobody sweeps up within the test what went astray.
    workers = [await stack.ready_worker(stall_s=60) for stack in (first, second)]
    # A sweeper's first look is at all there is, however new: it is over when turns that come after it are.
    for worker, stack in zip(workers, (first, second), strict=True):
        await worker.until_said("sweeper_leads")
        for _ in range(2):
            await (await stack.submit(say("before"), thread="before")).result(timeout_s=30)
    swept = sum(len(worker.said("roused")) for worker in workers)
    turns = [await stack.submit(say(f"{n}")) for stack in (first, second) for n in range(4)]
    assert [(await turn.result(timeout_s=30)).text for turn in turns] == ["0", "1", "2", "3"] * 2
    ready = [worker.said("worker_ready")[0] for worker in workers]
    ids = [await journal_id(stack.journal_url) for stack in (first, second)]
    assert [said["task_queue"] for said in ready] == [f"turnwright-{one}" for one in ids]
    assert {said["temporal"] for said in ready} == {first.server.address}
    assert [event for worker in workers for event in worker.said("task_of_another_journal")] == []
    assert sum(len(worker.said("roused")) for worker in workers) == swept, "no wake-up went astray"


async def test_a_worker_that_gets_tasks_of_another_journal_says_so_and_gives_them_back(first: Stack) -> None:
    shared = await with_queue(first, first.journal_url, "shared")
    second_url = f"sqlite:///{first.folder}/second.db"
    await with_queue(first, second_url, "shared")
    stranger = await replace(shared, journal_url=second_url).ready_worker(task_queue="shared")
    turn = await shared.submit(say("done"))
    said = await stranger.until_said("task_of_another_journal")
    assert (said["journal"], said["theirs"]) == (await journal_id(second_url), await journal_id(first.journal_url))
    assert said["task_queue"] == "shared"
    await shared.ready_worker(task_queue="shared")
    assert (await turn.result(timeout_s=30)).text == "done"
    assert len(stranger.said("task_of_another_journal")) == 1, "once a minute"
    assert "Traceback" not in stranger.log_file.read_text(encoding="utf-8")
