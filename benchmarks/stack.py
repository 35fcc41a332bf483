"""A Temporal server, and worker processes of ours and of a peer.

Rule: workers are real processes, started as a user starts them; the caller is this one. Both kinds run with
compiled modules: each new workflow loads its module anew in the sandbox, and compiling it each time (which is
what PYTHONDONTWRITEBYTECODE does) took longer than the rest of a short turn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporalio.client import Client as TemporalClient

from benchmarks.bare_worker import ADDRESS, QUEUE
from benchmarks.fleet import ROOT, Fleet
from benchmarks.stores import Store
from turnwright.client.client import Client
from turnwright.client.settings import ClientSettings
from turnwright.journal.store import Journal
from turnwright.worker.temporal_server import TemporalServer

TENANT: Final = "bench"
WORKER_COMMAND: Final = [
    sys.executable, "-m", "turnwright.worker.main", "worker", "--agents", "benchmarks.agents:registry",
]  # fmt: skip
ALIKE: Final[Mapping[str, str]] = {}
BARE_COMMAND: Final = [sys.executable, "-m", "benchmarks.bare_worker"]


@dataclass(frozen=True, slots=True)
class Stack:
    """A journal whose turns are carried out, and what is needed to give it some."""

    client: Client
    temporal: TemporalClient
    journal: Journal
    journal_id: str


@asynccontextmanager
async def temporal_server(folder: Path) -> AsyncIterator[TemporalClient]:
    """A client of a new server that keeps its data in a file."""
    async with TemporalServer(folder / "temporal.db", log_file=folder / "temporal.log") as server:
        yield await server.connect()


@asynccontextmanager
async def working(
    temporal: TemporalClient,
    store: Store,
    folder: Path,
    queue: str = "turnwright",
    more: Mapping[str, str] = ALIKE,
) -> AsyncIterator[Stack]:
    """A worker of this journal, with something more in its environment."""
    async with our_workers(temporal, store, queue, folder, 1, more):
        journal_id = await store.journal.journal_id()
        yield Stack(client_of(temporal, store.journal, queue), temporal, store.journal, journal_id)


def our_workers(
    temporal: TemporalClient, store: Store, queue: str, folder: Path, size: int, more: Mapping[str, str] = ALIKE
) -> Fleet:
    """So many workers of a journal, with something more in their environment."""
    env = {
        "TURNWRIGHT_JOURNAL_URL": store.url,
        "TURNWRIGHT_TEMPORAL_ADDRESS": _address(temporal),
        "TURNWRIGHT_TASK_QUEUE": queue,
        "TURNWRIGHT_LOG_LEVEL": "warning",
        **more,
    }
    return Fleet(temporal, queue, WORKER_COMMAND, _environment(env), folder / f"{queue}.log", size)


def bare_workers(
    temporal: TemporalClient, queue: str, folder: Path, size: int, more: Mapping[str, str] = ALIKE
) -> Fleet:
    """So many workers of the peer."""
    env = {ADDRESS: _address(temporal), QUEUE: queue, **more}
    return Fleet(temporal, queue, BARE_COMMAND, _environment(env), folder / f"{queue}.log", size)


def client_of(temporal: TemporalClient, journal: Journal, task_queue: str) -> Client:
    """The public client, on a journal that is open already."""

    async def connected() -> TemporalClient:
        return temporal

    return Client.of(journal, ClientSettings(tenant=TENANT, task_queue=task_queue, temporal=connected))


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **own}


def _address(temporal: TemporalClient) -> str:
    return temporal.service_client.config.target_host
