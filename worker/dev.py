"""`turnwright dev`: a journal, Temporal, workers and a gateway as one thing that starts and ends together.

Rule: every process is a child that dies with this one, however it dies, so nothing is left behind. Workers
and gateway stop before Temporal does. What ends by itself is started again.
"""

import asyncio
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import structlog

from turnwright.client.opening import open_journal
from turnwright.journal.drivers import open_driver
from turnwright.worker import loopback
from turnwright.worker.actor import stop_all
from turnwright.worker.child import Child
from turnwright.worker.dev_gateway import GATEWAY, KEY_FILE, DevGateway, keep_key
from turnwright.worker.dev_place import DevFailed, DevInfo, DevPlace, without_password
from turnwright.worker.log_tail import LogTail
from turnwright.worker.settings import Settings
from turnwright.worker.settings_environment import ENV_PREFIX
from turnwright.worker.temporal_server import TemporalServer

# Temporal's own default ports, where its tools look for it.
USUAL_PORTS = (7233, 8233)
READY_TIMEOUT_S = 60.0
READY_POLL_S = 0.05
RESTART_WAIT_S = 1.0
STOP_MARGIN_S = 5.0
WATCH_S = 0.2

log = structlog.get_logger(__name__)


class DevView(Protocol):
    """What is shown to whoever started it."""

    def ready(self, info: DevInfo, agents: list[str], workers: int, folder: Path) -> None:
        """Everything works."""
        ...

    def line(self, label: str, text: str) -> None:
        """A line of a process's log."""
        ...


@dataclass(frozen=True, slots=True)
class DevOptions:
    """What to start. Ports None: Temporal's usual ones if they are free, else others."""

    agents: str
    workers: int = 1
    port: int | None = None
    ui_port: int | None = None
    gateway: bool = True


class Dev:
    """Runs until it is stopped."""

    def __init__(self, settings: Settings, options: DevOptions, place: DevPlace, view: DevView) -> None:
        self._settings = settings
        self._options = options
        self._place = place
        self._view = view
        self._stopping = asyncio.Event()
        self._server = TemporalServer(
            place.folder / "temporal.db",
            options.port,
            options.ui_port,
            settings.temporal_namespace or "default",
            usual_ports=USUAL_PORTS,
            log_file=place.folder / "temporal.log",
        )
        self._gateway = DevGateway(settings, self._launch_gateway) if options.gateway else None
        self._workers: dict[str, Child] = {}
        self._frozen_since_s: dict[str, float] = {}

    def stop(self) -> None:
        """End everything."""
        self._stopping.set()

    async def run(self) -> None:
        """Start everything, work until stopped, end everything.

        Raises:
            DevRunning: another dev has this folder.
            DevFailed: a worker or the gateway ended before it was ready.
            InvalidInput: the port that the settings name for the gateway is taken.
            StoreError: the journal cannot be used.
            TemporalServerError: Temporal does not start.
        """
        self._place.take()
        # Not the gateway's: it writes a line for every request, and an open console asks again and again.
        tails = [LogTail(label, self._log_file(label), self._view.line) for label in self._labels]
        try:
            await self._prepare_journal()
            await self._server.start()
            for label in self._labels:
                self._start(label)
            if self._gateway is not None:
                self._gateway.start()
            for tail in tails:
                await tail.start()
            await self._until_ready()
            await self._watch()
        finally:
            await self._end()
            await stop_all(tails)
            self._place.release()

    @property
    def _labels(self) -> list[str]:
        return [f"worker-{n}" for n in range(1, self._options.workers + 1)]

    @property
    def _children(self) -> dict[str, Child]:
        """What was started and must go on, by label."""
        child = None if self._gateway is None else self._gateway.child
        return self._workers if child is None else {**self._workers, GATEWAY: child}

    @property
    def _key_file(self) -> Path:
        return self._place.folder / KEY_FILE

    def _log_file(self, label: str) -> Path:
        return self._place.folder / f"{label}.log"

    async def _prepare_journal(self) -> None:
        """Make or update its tables, and the gateway's key if there is to be one."""
        journal = await open_journal(self._settings.journal_url, migrate=True)
        try:
            if self._gateway is not None:
                await keep_key(self._key_file, journal.driver, self._settings.tenant)
        finally:
            await journal.close()

    def _start(self, label: str) -> None:
        if self._gateway is not None and label == GATEWAY:
            self._gateway.start()
        else:
            self._workers[label] = self._launch(label, "worker", "--label", label)

    def _launch_gateway(self, port: int) -> Child:
        return self._launch(
            GATEWAY,
            GATEWAY,
            gateway_host=loopback.HOST,
            gateway_port=str(port),
            temporal_ui=f"{self._server.ui_url}/namespaces/{self._server.namespace}",
            log_level="debug" if self._settings.log_level == "debug" else "info",
        )

    def _launch(self, label: str, *command: str, **more: str) -> Child:
        # By environment and not by flags: a journal's URL may hold a password, and others can see flags.
        told = {
            "journal_url": self._settings.journal_url,
            "temporal_address": self._server.address,
            "temporal_namespace": self._server.namespace,
            "temporal_environment": "false",
            "agents": self._options.agents,
            "log_format": self._settings.log_format,
            "log_level": self._settings.log_level,
        } | more
        if self._settings.task_queue is not None:
            told["task_queue"] = self._settings.task_queue
        if self._settings.metrics_port is not None:
            told["metrics_port"] = "0"  # each needs one of its own, and its log says which
        if self._settings.config is not None:
            told["config"] = str(self._settings.config)
        env = {**os.environ, **{f"{ENV_PREFIX}{name.upper()}": value for name, value in told.items()}}
        program = (sys.executable, "-m", "turnwright.worker.main")
        return Child([*program, *command], env=env, log_file=self._log_file(label))

    async def _until_ready(self) -> None:
        """Until each worker's presence is in the journal, and the gateway listens."""
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                agents = await self._until_workers_are_present()
                if self._gateway is not None and not self._stopping.is_set():
                    await self._gateway.until_ready(self._stopping)
        except TimeoutError:
            said = f"what it starts was not ready within {READY_TIMEOUT_S:g} s; see the logs in {self._place.folder}"
            raise DevFailed(said) from None
        if not self._stopping.is_set():
            self._tell(agents)

    async def _until_workers_are_present(self) -> list[str]:
        """The agents they know."""
        driver = open_driver(self._settings.journal_url)
        await driver.start()
        pids = {child.pid for child in self._workers.values()}
        agents: list[str] = []
        try:
            while pids and not self._stopping.is_set():
                self._check_running()
                for seen in await driver.presences():
                    if seen.liveness.state == "alive" and seen.info.get("pid") in pids:
                        pids.discard(seen.info["pid"])
                        agents = list(seen.info.get("agents", []))
                await asyncio.sleep(READY_POLL_S)
        finally:
            await driver.stop()
        return agents

    def _tell(self, agents: list[str]) -> None:
        info = DevInfo(
            os.getpid(), without_password(self._settings.journal_url), self._server.address, self._server.ui_url
        )
        if self._gateway is not None:
            info = replace(info, gateway_url=self._gateway.url, key_file=str(self._key_file))
        self._place.tell(info)
        self._view.ready(info, agents, self._options.workers, self._place.folder)

    def _check_running(self) -> None:
        for label, child in self._workers.items():
            if not child.is_running:
                raise DevFailed(f"{label} did not start: {_last_line(child.read_tail())}")

    async def _watch(self) -> None:
        """Start again what ends by itself."""
        while not await self._stopped_within(WATCH_S):
            self._kill_frozen()
            for label in [label for label, child in self._children.items() if not child.is_running]:
                event = f"{_kind(label)}_ended"
                log.warning(event, process=label, again_in_s=RESTART_WAIT_S)
                if await self._stopped_within(RESTART_WAIT_S):
                    return
                self._children[label].kill()
                self._start(label)
            if not self._server.is_running:
                log.warning("temporal_ended", again_in_s=RESTART_WAIT_S)
                await self._server.start()

    def _kill_frozen(self) -> None:
        """End what somebody stopped: a process that stands inside a transaction blocks all who write to the file."""
        now_s = time.monotonic()
        for label, child in self._children.items():
            if not process_is_stopped(child.pid):
                self._frozen_since_s.pop(label, None)
            elif now_s - self._frozen_since_s.setdefault(label, now_s) > self._settings.lease_s:
                event = f"{_kind(label)}_frozen"
                log.warning(event, process=label, pid=child.pid, then="it is killed and started again")
                child.kill()

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _end(self) -> None:
        limit_s = self._settings.drain_timeout_s + self._settings.cancel_grace_s + STOP_MARGIN_S
        await asyncio.gather(*(child.stop(limit_s) for child in self._children.values()))
        await self._server.stop()


def process_is_stopped(pid: int) -> bool:
    """Whether a signal has stopped the process (a debugger's prompt has not). Only Linux tells so cheaply."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"
    except (OSError, IndexError):
        return False


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def _kind(label: str) -> str:
    return label.partition("-")[0]
