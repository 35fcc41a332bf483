"""A worker in a process of its own, as an operating system sees it: signals go in, its end comes out."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from tests.forked import Forked, exit_code
from turnwright.worker.child import Child
from turnwright.worker.dev import process_is_stopped

DEADLINE_S = 100
POLL_S = 0.02


class Given(TypedDict, total=False):
    """What may be particular about a worker; see `World.prepare_worker`."""

    fault: str
    settings: Mapping[str, object]
    module: str
    url: str
    build: Path | None
    surroundings: Mapping[str, str]
    namespace: str


class Worker:
    """Made by a `World`; it never outlives the test."""

    def __init__(self, name: str, child: Child | Forked, log_file: Path) -> None:
        self.name = name
        self._log_file = log_file
        self._fault_file = log_file.with_suffix(".fault")
        self._child = child

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_running(self) -> bool:
        return self._child.is_running

    def kill(self) -> None:
        """As `kill -9` does."""
        self._child.kill()

    def arm(self, fault: str) -> None:
        """What it suffers from now on, in one write that it cannot see half of; nothing, if that is empty."""
        fresh = self._fault_file.with_suffix(".fresh")
        fresh.write_text(fault, "utf-8")
        fresh.replace(self._fault_file)

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def terminate(self) -> None:
        """As a deployment does."""
        os.kill(self.pid, signal.SIGTERM)

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        os.kill(self.pid, signal.SIGINT)

    @property
    def log(self) -> str:
        """All it has logged."""
        return self._log_file.read_text("utf-8") if self._log_file.exists() else ""

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log about that."""
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith("{") and event in line]
        return [line for line in lines if line.get("event") == event]

    async def until_ready(self) -> None:
        """Wait until it takes work."""
        await self.until_logged("worker_ready")

    async def until_logged(self, event: str) -> None:
        """Wait until its log says that."""
        async with asyncio.timeout(DEADLINE_S):
            while not self.logged(event):
                assert self.is_running, self.log or "it wrote nothing"
                await asyncio.sleep(POLL_S)

    async def until_frozen(self) -> None:
        """Wait until something stopped it."""
        async with asyncio.timeout(DEADLINE_S):
            while not self.is_frozen:
                await asyncio.sleep(POLL_S)

    @property
    def is_frozen(self) -> bool:
        """Whether a signal has stopped it; one that has ended is not."""
        if sys.platform == "linux":
            return process_is_stopped(self.pid)
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        return False

    async def until_ended(self) -> int:
        """Wait for its end; the exit code, or the signal that killed it as a negative number."""
        async with asyncio.timeout(DEADLINE_S):
            while self.is_running:
                await asyncio.sleep(POLL_S)
        code = exit_code(self._child)
        assert code is not None
        return code
