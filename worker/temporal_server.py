"""Temporal inside `turnwright dev` and the tests: a child process, on loopback only, that never outlives us.

The server keeps nothing that matters: the journal is the truth, so its data file may be erased between two
starts. `start` returns when our own process has said that it listens and the namespace answers (an answer alone may be
a neighbour's, who was faster to take the port), `stop` asks first and kills later, and the ports of the first start
are kept for every later one. As for any `Child`, start it from a thread that lives as long.
"""

import asyncio
from pathlib import Path
from typing import Self

import structlog
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from turnwright.worker import loopback, temporal_command
from turnwright.worker.child import Child
from turnwright.worker.temporal_command import PORT_TAKEN, PortTaken, TemporalServerError, cause, listens

__all__ = ["TemporalServer", "TemporalServerError"]

READY_POLL_S = 0.02
START_ATTEMPTS_MAX = 5
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")

log = structlog.get_logger()


class TemporalServer:
    """A Temporal server as a child process; also an async context manager."""

    def __init__(
        self,
        data_file: Path | None = None,
        port: int | None = None,
        ui_port: int | None = None,
        namespace: str = "default",
        *,
        usual_ports: tuple[int, int] | None = None,
        log_file: Path | None = None,
        ready_timeout_s: float = 60,
        stop_timeout_s: float = 10,
    ) -> None:
        self.data_file = data_file
        self.port = port
        self.ui_port = ui_port
        self.namespace = namespace
        self._usual_ports = usual_ports
        self.log_file = log_file
        self.ready_timeout_s = ready_timeout_s
        self.stop_timeout_s = stop_timeout_s
        self._child: Child | None = None

    @property
    def address(self) -> str:
        """Where clients connect; known once the server was given a port or started."""
        return f"{loopback.HOST}:{_known(self.port)}"

    @property
    def ui_url(self) -> str:
        """Temporal's own user interface, for a browser."""
        return f"http://{loopback.HOST}:{_known(self.ui_port)}"

    @property
    def pid(self) -> int:
        """The process id of the server."""
        if self._child is None:
            raise TemporalServerError("the embedded Temporal is not running: call start() first")
        return self._child.pid

    @property
    def is_running(self) -> bool:
        """Whether the process is there; it may have ended by itself."""
        return self._child is not None and self._child.is_running

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the server and return when its namespace answers."""
        if self.is_running:
            raise TemporalServerError(f"the embedded Temporal already runs at {self.address}")
        self.kill()
        given, usual = (self.port, self.ui_port), self._usual_ports
        for attempts_left in reversed(range(START_ATTEMPTS_MAX)):
            self._choose_ports(usual)
            try:
                await self._launch()
                break
            except PortTaken:
                # Somebody took it between our look and the server's bind; a given one that is taken is said above.
                (self.port, self.ui_port), usual = given, None
                if not attempts_left:
                    raise
            except TemporalServerError:
                self.port, self.ui_port = given
                raise
        log.info("temporal.started", address=self.address, ui_url=self.ui_url, pid=self.pid)

    async def connect(self, *, lazy: bool = False) -> Client:
        """A client of this server; Temporal's own environment variables are meant for another one."""
        return await Client.connect(self.address, namespace=self.namespace, lazy=lazy)

    async def stop(self) -> None:
        """Ask the server to end and kill it if it takes too long; stopping twice is fine."""
        child, self._child = self._child, None
        if child is not None and not await child.stop(self.stop_timeout_s):
            log.warning("temporal.killed", pid=child.pid, stop_timeout_s=self.stop_timeout_s)

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def erase(self) -> None:
        """Delete the data file, so that the next start knows nothing."""
        if self.is_running:
            raise TemporalServerError("stop the embedded Temporal before erasing its data file")
        if self.data_file is not None:
            for suffix in SQLITE_SUFFIXES:
                Path(f"{self.data_file}{suffix}").unlink(missing_ok=True)

    def _choose_ports(self, usual: tuple[int, int] | None) -> None:
        for port in (self.port, self.ui_port):
            # Otherwise a stranger on that port would answer and be taken for our server.
            if port is not None and not loopback.is_free(port):
                raise TemporalServerError(f"port {port} is taken: free it or choose another")
        port, ui_port = usual or (None, None)
        self.port = self.port or _if_free(port) or loopback.find_free()
        self.ui_port = self.ui_port or _if_free(ui_port) or loopback.find_free()

    async def _launch(self) -> None:
        if self.data_file is not None:
            self.data_file.parent.mkdir(parents=True, exist_ok=True)
        ports = _known(self.port), _known(self.ui_port)
        command = temporal_command.build(*ports, self.namespace, self.data_file)
        self._child = Child(command, env=temporal_command.build_environment(), log_file=self.log_file)
        try:
            async with asyncio.timeout(self.ready_timeout_s):
                await self._wait_until_ready(self._child)
        except BaseException as error:
            said = cause(self._child.read_head())
            self.kill()
            if isinstance(error, TimeoutError):
                waited = f"within {self.ready_timeout_s:g} s: {said}{self._see_log}"
                raise TemporalServerError(f"the embedded Temporal did not answer {waited}") from None
            raise

    async def _wait_until_ready(self, child: Child) -> None:
        """Ask again and again, but not after the process ended: a stranger on its port may let us wait."""
        asking = asyncio.create_task(self._ask_until_answered(child))
        try:
            while child.is_running:
                if (await asyncio.wait((asking,), timeout=READY_POLL_S))[0] and child.is_running:
                    return asking.result()
        finally:
            asking.cancel()
        said = child.read_head()
        kind = PortTaken if PORT_TAKEN in said else TemporalServerError
        raise kind(f"the embedded Temporal did not start: {cause(said)}{self._see_log}")

    @property
    def _see_log(self) -> str:
        return "" if self.log_file is None else f" (more in {self.log_file})"

    async def _ask_until_answered(self, child: Child) -> None:
        while True:
            if listens(child.read_head(), _known(self.port)) and await self._answers():
                return
            await asyncio.sleep(READY_POLL_S)

    async def _answers(self) -> bool:
        try:
            client = await self.connect()
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=self.namespace))
        except (RuntimeError, RPCError):
            return False
        return True


def _if_free(port: int | None) -> int | None:
    return port if port is not None and loopback.is_free(port) else None


def _known(port: int | None) -> int:
    if port is None:
        raise TemporalServerError("the embedded Temporal has no port yet: call start() first")
    return port
