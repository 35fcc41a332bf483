"""Workers as tests start them in their own process."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version

from temporalio.client import Client
from temporalio.worker import Worker

from turnwright.activities.runtime import Activities, ActivitySettings
from turnwright.journal.driver import Hold
from turnwright.journal.store import Journal
from turnwright.workflows.sandbox import workflow_runner
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow
from turnwright.workflows.tick import TickWorkflow
from turnwright.workflows.turn import TurnWorkflow

WORKFLOWS = (SessionWorkflow, ThreadWorkflow, TurnWorkflow, TickWorkflow)
DEADLINE_S = 40
STICKY_S = 0.5
CACHED = 0 if os.environ.get("TURNWRIGHT_WORKFLOW_CACHE") == "off" else 1_000
SETTINGS = ActivitySettings(
    watch_interval_s=0.02, drain_s=0.0, give_back_s=0.1, repair_retry_s=0.2, broken_attempts_max=1
)


@dataclass
class LocalWorker:
    """A worker in the test's own process."""

    name: str
    journal: Journal
    activities: Activities
    hold: Hold
    worker: Worker

    async def stop(self) -> None:
        """Tell it to end, and wait for that."""
        await self.worker.shutdown()

    def stopping(self) -> "asyncio.Task[None]":
        """Tell it to end."""
        return asyncio.create_task(self.stop())


@asynccontextmanager
async def temporal_worker(
    client: Client,
    queue: str,
    activities: Activities,
    name: str,
    cached: int = CACHED,
    workflows: Sequence[type] = WORKFLOWS,
    drain_s: float = 0.0,
) -> AsyncIterator[Worker]:
    """A Temporal worker with our workflows and activities."""
    async with Worker(
        client,
        task_queue=queue,
        workflows=workflows,
        activities=activities.all,
        workflow_runner=workflow_runner(),
        identity=name,
        build_id=version("turnwright"),
        max_cached_workflows=cached,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_S),
        graceful_shutdown_timeout=timedelta(seconds=drain_s),
    ) as worker:
        yield worker
