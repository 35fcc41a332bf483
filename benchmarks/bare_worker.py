"""The peer's worker, with Temporal's defaults, and the workflows whose takeover is measured.

Rule: the sticky timeout stays at its default of 10 s, and the activity's heartbeat timeout is 10 s, as is
usual. Run as `python -m benchmarks.bare_worker` with the address and the queue in the
environment.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from benchmarks.agents import WAIT_S
    from benchmarks.bare import ACTIVITIES, BareWorkflow

ADDRESS, QUEUE = "BENCH_TEMPORAL_ADDRESS", "BENCH_TASK_QUEUE"
SUICIDAL, ACTIVITIES_MAX = "BENCH_SUICIDAL", "BENCH_ACTIVITIES_MAX"
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
    async def run(self) -> float:
        """When the call after the wait was begun."""
        await workflow.sleep(WAIT_S)
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
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )


@activity.defn
async def decided() -> float:
    """The time of day it was begun, on a worker that outlives it."""
    if os.environ.get(SUICIDAL):
        os.kill(os.getpid(), signal.SIGKILL)
    return time.time()


@workflow.defn
class BareDeciding:
    """Looks something up on the worker that holds its task."""

    @workflow.run
    async def run(self) -> float:
        """When it was looked up on a worker that outlived it."""
        limit = timedelta(seconds=START_TO_CLOSE_S)
        return await workflow.execute_local_activity(decided, start_to_close_timeout=limit)


async def _main() -> None:
    client = await Client.connect(os.environ[ADDRESS])
    workflows = [BareWorkflow, BareWaiting, BareCalling, BareDeciding]
    activities: list[Callable[..., Any]] = [*ACTIVITIES, begun, called, decided]
    most = int(os.environ[ACTIVITIES_MAX]) if ACTIVITIES_MAX in os.environ else None
    queue = os.environ[QUEUE]
    worker = Worker(
        client, task_queue=queue, workflows=workflows, activities=activities, max_concurrent_activities=most
    )
    await worker.run()


if __name__ == "__main__":
    asyncio.run(_main())
