"""The peer of a takeover: a worker with Temporal's defaults, and workflows that wait or call.

Rule: the sticky timeout stays at its default of 10 s, and the activity's heartbeat timeout is the 10 s that
Temporal's own samples use. Run as `python -m benchmarks.bare_worker` with the address and the queue in the
environment.
"""

from __future__ import annotations

import asyncio
import os
import time
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

ADDRESS, QUEUE = "BENCH_TEMPORAL_ADDRESS", "BENCH_TASK_QUEUE"
HEARTBEAT_TIMEOUT_S = 10
HEARTBEAT_INTERVAL_S = 0.5
START_TO_CLOSE_S = 600


@activity.defn
async def begun() -> float:
    """The time of day it was begun."""
    return time.time()


@activity.defn
async def called() -> float:
    """A call that never ends the first time; the time of day it was begun again."""
    while activity.info().attempt == 1:
        activity.heartbeat()
        await asyncio.sleep(HEARTBEAT_INTERVAL_S)
    return time.time()


@workflow.defn
class BareWaiting:
    """Waits, then calls: the workflow of an agent whose provider asked it to wait."""

    @workflow.run
    async def run(self, wait_s: float) -> float:
        """When the call after the wait was begun."""
        await workflow.sleep(wait_s)
        return await workflow.execute_activity(begun, start_to_close_timeout=timedelta(seconds=START_TO_CLOSE_S))


@workflow.defn
class BareCalling:
    """Calls: the workflow of an agent whose model thinks for long."""

    @workflow.run
    async def run(self) -> float:
        """When the call was begun again."""
        return await workflow.execute_activity(
            called,
            start_to_close_timeout=timedelta(seconds=START_TO_CLOSE_S),
            heartbeat_timeout=timedelta(seconds=HEARTBEAT_TIMEOUT_S),
        )


async def _main() -> None:
    client = await Client.connect(os.environ[ADDRESS])
    worker = Worker(
        client, task_queue=os.environ[QUEUE], workflows=[BareWaiting, BareCalling], activities=[begun, called]
    )
    await worker.run()


if __name__ == "__main__":
    asyncio.run(_main())
