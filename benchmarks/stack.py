"""A Temporal server, and workers of ours and of a peer in this process.

Rule: both kinds of worker get the same options, so what differs is what they do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client as TemporalClient
from temporalio.worker import Worker

from benchmarks.agents import registry
from benchmarks.stores import PRESENCE
from turnwright.activities.runtime import Activities
from turnwright.client.client import Client
from turnwright.client.settings import ClientSettings
from turnwright.journal.store import Journal
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.sandbox import workflow_runner
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow
from turnwright.workflows.turn import TurnWorkflow
from turnwright.workflows.waking import Waker

TENANT = "bench"
STICKY_TIMEOUT_S = 2.0
LEASE_S = 10.0


@dataclass(frozen=True, slots=True)
class Stack:
    """A worker that runs turns of one journal, and what is needed to give it some."""

    client: Client
    temporal: TemporalClient
    journal: Journal
    journal_id: str


@asynccontextmanager
async def temporal_server(folder: Path) -> AsyncIterator[TemporalClient]:
    """A client of a new server that keeps its data in a file."""
    async with TemporalServer(folder / "temporal.db") as server:
        yield await server.connect()


@asynccontextmanager
async def running(temporal: TemporalClient, journal: Journal) -> AsyncIterator[Stack]:
    """A worker of this journal on a task queue of its own."""
    journal_id, task_queue = await journal.journal_id(), f"turnwright-{journal.driver.dialect}"
    hold = await journal.driver.hold_presence(PRESENCE, {}, lease_s=LEASE_S)
    activities = Activities(journal, Waker(temporal, journal_id, task_queue), registry, lambda: PRESENCE)
    await activities.start()

    workflows = (SessionWorkflow, ThreadWorkflow, TurnWorkflow)
    async with worker(temporal, task_queue, workflows, activities.all):
        yield Stack(client_of(temporal, journal, task_queue), temporal, journal, journal_id)
    await activities.stop()
    await hold.release()


def client_of(temporal: TemporalClient, journal: Journal, task_queue: str) -> Client:
    """The public client, on a journal that is open already."""

    async def connected() -> TemporalClient:
        return temporal

    return Client(journal, ClientSettings(tenant=TENANT, task_queue=task_queue, temporal=connected))


def worker(
    temporal: TemporalClient, task_queue: str, workflows: Sequence[type], activities: Sequence[Callable[..., Any]]
) -> Worker:
    """A worker, ours or a peer."""
    return Worker(
        temporal,
        task_queue=task_queue,
        workflows=workflows,
        activities=activities,
        workflow_runner=workflow_runner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_TIMEOUT_S),
    )
