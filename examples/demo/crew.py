"""The worker processes: `turnwright worker`, started, found by what they claim in the journal, and killed.

Rule: which worker runs something is read from the journal and nowhere else. A claim names a presence, and the
store knows the process behind it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from examples.demo.place import FOLDER_VARIABLE, MODEL_VARIABLE, Place
from turnwright.journal.driver import Driver
from turnwright.worker.child import Child

AGENTS = "examples.demo.agents:registry"
ROOT = Path(__file__).resolve().parents[2]
READY_TIMEOUT_S = 60.0
READY_POLL_S = 0.05
STOP_TIMEOUT_S = 5.0


class WorkerTrouble(RuntimeError):
    """A worker did not come up; the message ends with what it wrote."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker process."""

    name: str
    child: Child


class Crew:
    """All workers of the demonstration."""

    def __init__(self, place: Place, temporal_address: str, model_url: str, driver: Driver) -> None:
        self._place = place
        self._environment = worker_environment(place, temporal_address, model_url)
        self._driver = driver
        self._workers: list[Worker] = []
        self._names: dict[str, str] = {}

    async def hire(self) -> Worker:
        """Start one more worker and return when others see it."""
        name = f"worker {ascii_uppercase[len(self._workers)]}"
        command = [sys.executable, "-m", "turnwright.worker.main", "worker", "--agents", AGENTS, "--label", name]
        log_file = self._place.log_of(name.replace(" ", "-"))
        worker = Worker(name, Child(command, env=self._environment, log_file=log_file))
        self._workers.append(worker)
        async with asyncio.timeout(READY_TIMEOUT_S):
            while name not in (await self._look()).values():
                if not worker.child.is_running:
                    raise WorkerTrouble(f"{name} ended before it worked: {worker.child.read_tail()}")
                await asyncio.sleep(READY_POLL_S)
        return worker

    async def find(self, presence_id: str) -> Worker:
        """The worker that claimed something under this presence."""
        name = (await self._look())[presence_id]
        return next(worker for worker in self._workers if worker.name == name)

    def called(self, presence_id: str) -> str:
        """The name of a worker that was seen, for people."""
        return self._names.get(presence_id, "a worker")

    @property
    def running(self) -> int:
        """How many workers are there."""
        return sum(worker.child.is_running for worker in self._workers)

    @property
    def pids(self) -> frozenset[int]:
        """The processes of all who were ever there."""
        return frozenset(worker.child.pid for worker in self._workers)

    @property
    def names(self) -> str:
        """Who is there."""
        return " and ".join(worker.name for worker in self._workers if worker.child.is_running)

    def kill(self, worker: Worker) -> float:
        """SIGKILL; answers when that was, on the monotonic clock."""
        at_s = time.monotonic()
        worker.child.kill()
        return at_s

    async def dismiss(self) -> None:
        """Ask all of them to end."""
        await asyncio.gather(*(w.child.stop(STOP_TIMEOUT_S) for w in self._workers if w.child.is_running))

    def kill_all(self) -> None:
        """End all of them at once; harmless when they have ended."""
        for worker in self._workers:
            worker.child.kill()

    async def _look(self) -> Mapping[str, str]:
        """The names by presence, of everybody who was ever seen."""
        for presence in await self._driver.presences():
            if label := presence.info.get("label"):  # a moment after it appeared it has not said so yet
                self._names[presence.presence_id] = str(label)
        return self._names


def worker_environment(place: Place, temporal_address: str, model_url: str) -> dict[str, str]:
    """The environment of a worker: what the person at this terminal set for other workers is left out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TURNWRIGHT_", "TEMPORAL_"))}
    path = [str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {
        "PYTHONPATH": os.pathsep.join(path),
        "TURNWRIGHT_CONFIG": str(settings_file(place, temporal_address)),
        FOLDER_VARIABLE: str(place.folder),
        MODEL_VARIABLE: model_url,
    }


def settings_file(place: Place, temporal_address: str) -> Path:
    """The settings of the workers as a file, which also serves whoever looks at the journal afterwards."""
    path = place.folder / "turnwright.toml"
    lines = {"journal_url": place.journal_url, "temporal_address": temporal_address, "temporal_namespace": "default"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    path.write_text(f'{text}temporal_environment = false\nlog_format = "json"\n', encoding="utf-8")
    return path
