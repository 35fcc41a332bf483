"""Worker processes without the second that each needs to load its code: `tests.fork_server` forks them.

    child = start("turnwright.worker.main", ["worker"], environment, log_file)
    child = await start_speaking("tests.integration.stores.child", [url, "lead", "sweep"])

A process that must not be as the others are (another build, another clock) is started as ever, with a `Child`.
"""

import asyncio
import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.fork_server import REQUEST_BYTES_MAX
from turnwright.worker.child import Child

ROOT = Path(__file__).resolve().parents[1]
LINE_S_MAX = 40
STDERR = 2


class ForkServer:
    """The server of this process, and its ending."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.fork_server"]
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=theirs.fileno())

    @staticmethod
    @functools.cache
    def one() -> "ForkServer":
        """It starts when it is first needed and ends with this process."""
        server = ForkServer()
        atexit.register(server.close)
        return server

    def fork(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *outputs: int,
        namespace: str = "",
    ) -> "Forked":
        """A process that runs the module as `python -m` does, and writes there: its errors to the last, if two."""
        asked = {"do": "fork", "module": module, "arguments": [*arguments], "environment": dict(environment)}
        asked["namespace"] = namespace
        pid = self._ask(asked, *outputs)
        assert pid is not None
        return Forked(self, pid)

    def look(self, do: str, pid: int) -> int | None:
        """What the server says of a process that it forked."""
        return self._ask({"do": do, "pid": pid})

    def close(self) -> None:
        """End it, and with it whatever it forked."""
        self._control.close()
        self._process.wait()

    def _ask(self, asked: Mapping[str, object], *files: int) -> int | None:
        socket.send_fds(self._control, [json.dumps(asked).encode()], files)
        said = self._control.recv(REQUEST_BYTES_MAX)
        assert said, "the fork server is gone"
        answer: int | None = json.loads(said)
        return answer


class Forked:
    """A process that the server forked, as `Child` is one that was started."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    @property
    def is_running(self) -> bool:
        """Whether the process is there; it may have ended by itself."""
        if self.returncode is None:
            self.returncode = self._server.look("poll", self.pid)
        return self.returncode is None

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        if self.is_running:
            os.kill(self.pid, signal.SIGKILL)
            self.returncode = self._server.look("wait", self.pid)


class Speaking:
    """A process whose lines a test reads."""

    def __init__(
        self, process: "Forked | subprocess.Popen[bytes]", said: asyncio.StreamReader, pipe: asyncio.ReadTransport
    ) -> None:
        self._process = process
        self._said = said
        self._pipe = pipe

    @property
    def pid(self) -> int:
        return self._process.pid

    async def line(self) -> str:
        """The next line it prints; empty at its end."""
        async with asyncio.timeout(LINE_S_MAX):
            return (await self._said.readline()).decode().strip()

    async def lines(self) -> list[str]:
        """All whole lines it printed until it ended."""
        text = (await self._said.read()).decode()
        return text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """As `kill -9` does; what it printed can still be read."""
        self._process.kill()
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()

    def end(self) -> None:
        """Kill it, and read no more."""
        self.kill()
        self._pipe.close()


def start(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log_file: Path, *, namespace: str = ""
) -> Child | Forked:
    """Begin a process that runs the module as `python -m` does, forked where that is as good.

    `namespace` is the file of the network that it is on, if not this one (`tests.namespaces`).
    """
    if sys.platform == "linux":
        with log_file.open("ab") as log:
            return ForkServer.one().fork(module, arguments, environment, log.fileno(), namespace=namespace)
    return Child([sys.executable, "-m", module, *arguments], env=environment, log_file=log_file)


def exit_code(child: Child | Forked) -> int | None:
    """Of a process that was seen to have ended; the signal that killed it as a negative number."""
    return child.returncode if isinstance(child, Forked) else child._process.returncode


async def start_speaking(module: str, arguments: Sequence[str]) -> Speaking:
    """Begin a process whose lines are read as they come; its errors go where ours do."""
    reading, writing = os.pipe()
    try:
        process = _begin_speaking(module, arguments, writing)
    finally:
        os.close(writing)
    said = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(said)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb"))
    return Speaking(process, said, pipe)


def _begin_speaking(module: str, arguments: Sequence[str], output: int) -> "Forked | subprocess.Popen[bytes]":
    if sys.platform == "linux":
        return ForkServer.one().fork(module, arguments, os.environ, output, STDERR)
    return subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, stdout=output)
