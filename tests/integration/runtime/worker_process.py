"""A worker as a process of its own: it says `ready`, and works until it is killed."""

import asyncio
import json
import sys

from temporalio.client import Client

from tests.integration.runtime.workers import SETTINGS, temporal_worker
from turnwright.activities.registry import load_registry
from turnwright.activities.runtime import Activities
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.logs import configure_logs
from turnwright.workflows.waking import Waker


async def work(
    journal_url: str, address: str, queue: str, presence: str, lease_s: float, task_timeout_s: float, agents: str
) -> None:
    client = await Client.connect(address, identity=presence)
    journal = await Journal.open(journal_url, terms=Terms(presence=presence))
    hold = await journal.driver.hold_presence(presence, {}, lease_s=lease_s)
    waker = Waker(client, await journal.journal_id(), queue, task_timeout_s)
    activities = Activities(journal, waker, load_registry(agents), lambda: presence, SETTINGS)
    await activities.start()
    async with temporal_worker(client, queue, activities, presence):
        print("ready", flush=True)  # noqa: T201 - the test waits for it
        while True:
            await hold.beat()
            await asyncio.sleep(lease_s / 5)


if __name__ == "__main__":
    configure_logs("console", "warning", sys.stderr)
    asyncio.run(work(**json.loads(sys.argv[1])))
