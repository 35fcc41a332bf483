"""The processes of the compose stack without containers: PostgreSQL, Temporal, two workers, a gateway, Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.faults.harness.prometheus import Prometheus
from tests.faults.harness.scripts import Step, task
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import PROGRAM, QUICK, World
from tests.forked import Forked, start
from turnwright.client import Client, Turn
from turnwright.worker import loopback
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer

WORKERS = 2
SHORT = {"lease_s": 1.0, "once_grace_s": 0.0}
START_S_MAX = 60
LOOK_S = 0.05


class Watched:
    """The stack; everything of it may be hurt."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.prometheus: Prometheus
        self.caller: Client
        self.workers: list[Worker] = []
        self._folder = folder
        self._worker_ports = [loopback.find_free() for _ in range(WORKERS)]
        self._gateway_ports = (loopback.find_free(), loopback.find_free())
        self._gateway: Child | Forked | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, journal_url: str, folder: Path, temporal: TemporalServer) -> AsyncIterator[Watched]:
        """With a gateway, and no worker yet."""
        async with World.open(journal_url, folder, temporal) as world:
            stack = cls(world, folder)
            targets = {"turnwright-worker": stack._worker_ports, "turnwright-gateway": stack._gateway_ports[1:]}
            try:
                await stack.start_gateway()
                url = f"http://{loopback.HOST}:{stack._gateway_ports[0]}"
                async with (
                    Prometheus.watching(folder / "prometheus", targets) as stack.prometheus,
                    Client.connect(gateway_url=url) as stack.caller,
                ):
                    yield stack
            finally:
                stack.kill_gateway()

    def prepare_workers(self) -> list[Worker]:
        """As many as there are ports for them, which begin with `work`."""
        return [
            self.world.prepare_worker(settings={**SHORT, "metrics_port": port, "max_concurrent_activities": 50})
            for port in self._worker_ports
        ]

    async def work(self, workers: list[Worker] | None = None) -> None:
        """Let these begin, or new ones, in the place of those that worked before."""
        self.workers = workers or self.prepare_workers()
        await asyncio.gather(*map(self.world.let_work, self.workers))

    def kill_workers(self) -> None:
        """All at once, as `kill -9` does."""
        for worker in self.workers:
            worker.kill()

    async def start_gateway(self) -> None:
        """Also again, on the same ports."""
        port, metrics_port = self._gateway_ports
        settings = {
            **QUICK,
            "journal_url": self.world.journal_url,
            "temporal_address": self.world.temporal.address,
            "task_queue": self.world.queue,
            "gateway_port": port,
            "metrics_port": metrics_port,
        }
        log = self._folder / "gateway.log"
        begun = len(log.read_text("utf-8")) if log.exists() else 0
        self._gateway = start(PROGRAM, ["gateway", "--open"], self.world.environment("", settings), log)
        async with asyncio.timeout(START_S_MAX):
            while "gateway_listening" not in log.read_text("utf-8")[begun:]:
                assert self._gateway.is_running, log.read_text("utf-8")
                await asyncio.sleep(LOOK_S)

    def kill_gateway(self) -> None:
        """As `kill -9` does; harmless when there is none."""
        if self._gateway is not None:
            self._gateway.kill()

    async def submit(self, *steps: Step, thread: str = "main", agent: str = "bot") -> Turn:
        """A turn that plays these steps, through the gateway."""
        return await self.caller.session(None, "s").thread(agent, thread).submit(task(*steps))
