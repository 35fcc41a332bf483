"""Temporal, a journal and `turnwright worker` processes, as an operator has them."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forked import Forked, exit_code, start
from tests.integration.runtime.scripts import Step, task
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.drivers import open_driver
from turnwright.journal.entries import Entry
from turnwright.journal.store import Journal
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer

ROOT = Path(__file__).resolve().parents[3]
AGENTS = "tests.integration.runtime.agents:AGENTS"
DEADLINE_S = 60
POLL_S = 0.05


@dataclass
class WorkerUnderTest:
    """A worker process and its log."""

    process: Child | Forked
    log_file: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self, event: str) -> list[dict[str, Any]]:
        lines = self.log_file.read_text(encoding="utf-8").splitlines()
        return [line for line in (json.loads(line) for line in lines if event in line) if line["event"] == event]

    async def until_said(self, event: str) -> dict[str, Any]:
        async def said() -> bool:
            if not self.process.is_running:
                raise AssertionError(f"the worker ended: {self.log_file.read_text(encoding='utf-8')}")
            return bool(self.said(event))

        await until(said)
        return self.said(event)[-1]

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def ended(self) -> int:
        async def over() -> bool:
            return not self.process.is_running

        await until(over)
        code = exit_code(self.process)
        assert code is not None
        return code

    def kill(self) -> None:
        self.process.kill()


@dataclass
class Stack:
    """Everything of one test; a server that is not for all (`mortal`) may be stopped, erased and started."""

    folder: Path
    journal_url: str
    server: TemporalServer
    client: Client
    exits: AsyncExitStack
    workers: list[WorkerUnderTest] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path, journal_url: str, server: TemporalServer) -> "AsyncIterator[Stack]":
        driver = open_driver(journal_url)
        await driver.start()
        await driver.migrate()
        await driver.stop()
        async with AsyncExitStack() as exits:
            temporal = await server.connect()
            client = await exits.enter_async_context(Client.connect(journal_url=journal_url, temporal=temporal))
            yield cls(folder, journal_url, server, client, exits)

    async def worker(self, **settings: object) -> WorkerUnderTest:
        """Start a worker; it is killed with the test at the latest."""
        log_file = self.folder / f"worker-{len(self.workers) + 1}.log"
        told = {
            "journal_url": self.journal_url,
            "temporal_address": self.server.address,
            "temporal_environment": False,
            "agents": AGENTS,
            "log_format": "json",
            "sweep_interval_s": 0.2,
            "stall_s": 1,
        } | settings
        env = os.environ | {f"TURNWRIGHT_{name.upper()}": str(value) for name, value in told.items()}
        arguments = ["worker", "--label", log_file.stem]
        worker = WorkerUnderTest(start("turnwright.worker.main", arguments, env, log_file), log_file)
        self.workers.append(worker)
        self.exits.callback(worker.kill)
        return worker

    async def ready_worker(self, **settings: object) -> WorkerUnderTest:
        worker = await self.worker(**settings)
        await worker.until_said("worker_ready")
        return worker

    async def submit(self, *steps: Step, thread: str = "main") -> Turn:
        session = self.client.session(None, "s")
        await session.create(exist_ok=True)
        return await session.submit(task(*steps), agent="bot", thread=thread)

    async def journal_id(self) -> str:
        driver = open_driver(self.journal_url)
        await driver.start()
        try:
            return await Journal(driver).journal_id()
        finally:
            await driver.stop()

    async def entries(self, turn: Turn) -> list[Entry]:
        """What happened to a turn."""
        thread = self.client.session(None, "s").thread(turn.key.agent, turn.key.thread)
        return [entry for entry in await thread.history() if entry.turn_id == turn.id]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(DEADLINE_S):
        while not await condition():
            await asyncio.sleep(POLL_S)


async def until_shows(turn: Turn, *statuses: str) -> None:
    async def shows() -> bool:
        return (await turn.status()).status in statuses

    await until(shows)
