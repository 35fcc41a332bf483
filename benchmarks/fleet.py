"""Worker processes on one task queue, to be killed.

Rule: a process counts as started when Temporal has seen it ask for work, and only processes that were
started here are ever killed.
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import time
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client as TemporalClient
from temporalio.service import RPCError

ROOT: Final = Path(__file__).resolve().parents[1]
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30
POLL_S = 0.05
DEATH_POLL_S = 0.005


class Fleet:
    """So many workers, and a new one for each that was killed; an async context manager."""

    def __init__(
        self,
        temporal: TemporalClient,
        task_queue: str,
        command: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        size: int,
    ) -> None:
        self._temporal = temporal
        self._task_queue = task_queue
        self._command = command
        self._env = env
        self._log = log
        self._size = size
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    async def __aenter__(self) -> Self:
        await self.fill()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                await asyncio.to_thread(process.wait, STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    async def fill(self) -> None:
        """Start what is missing, and wait until it asks for work."""
        started = [self._start() for _ in range(self._size - len(self._running))]
        async with asyncio.timeout(START_TIMEOUT_S):
            for process in started:
                while not await self._polls(process):  # noqa: ASYNC110 - Temporal tells nobody
                    await asyncio.sleep(POLL_S)

    async def kill(self, identity: str) -> float:
        """SIGKILL the process that Temporal knows by this identity; the time of day it happened."""
        process = self._named(identity)
        killed_s = time.time()
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)
        del self._running[process.pid]
        return killed_s

    async def kill_all(self) -> None:
        """SIGKILL every process."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            await asyncio.to_thread(process.wait)
        self._running.clear()

    def freeze(self, identity: str) -> float:
        """SIGSTOP it; the time of day it happened."""
        frozen_s = time.time()
        self._named(identity).send_signal(signal.SIGSTOP)
        return frozen_s

    async def until_dead(self, otherwise: Awaitable[object]) -> float | None:
        """Wait until one died by itself, or for something else; the time of day it was seen dead, or None."""
        other = asyncio.ensure_future(otherwise)
        try:
            while not other.done():
                dead = [process for process in self._running.values() if process.poll() is not None]
                for process in dead:
                    del self._running[process.pid]
                if dead:
                    return time.time()
                await asyncio.sleep(DEATH_POLL_S)
            return None
        finally:
            other.cancel()

    def _named(self, identity: str) -> subprocess.Popen[bytes]:
        return next(p for pid, p in self._running.items() if names(identity, pid))

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(self._command, env=self._env, cwd=ROOT, stdout=log, stderr=log)
        self._running[process.pid] = process
        return process

    async def _polls(self, process: subprocess.Popen[bytes]) -> bool:
        if process.poll() is not None:
            said = self._log.read_text("utf-8", "replace")[-2_000:]
            raise RuntimeError(f"a worker ended with {process.returncode} before it asked for work:\n{said}")
        kinds = (TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY)
        for kind in kinds:
            request = DescribeTaskQueueRequest(
                namespace=self._temporal.namespace, task_queue=TaskQueue(name=self._task_queue), task_queue_type=kind
            )
            try:
                found = await self._temporal.workflow_service.describe_task_queue(request)
            except RPCError:  # it was busy; the next look tells
                return False
            if not any(names(poller.identity, process.pid) for poller in found.pollers):
                return False
        return True


def names(identity: str, pid: int) -> bool:
    """Whether the process id stands in the identity as a number of its own."""
    return str(pid) in re.split(r"\D+", identity)
