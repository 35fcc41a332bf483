"""Worker processes without the second that each needs to load its code: `tests.fork_server` forks them.

    child = start("turnwright.worker.main", ["worker"], environment, log_file)

A process that must not be as the others are (another build, another clock) is started as ever, with a `Child`.
"""

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
TAIL_BYTES = 2_000


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

    def fork(self, module: str, arguments: Sequence[str], environment: Mapping[str, str], log_file: Path) -> "Forked":
        """A process that runs the module as `python -m` does, and writes to this log."""
        asked = {"do": "fork", "module": module, "arguments": [*arguments], "environment": dict(environment)}
        with log_file.open("ab") as log:
            pid = self._ask(asked, log.fileno())
        assert pid is not None
        return Forked(self, pid, log_file)

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

    def __init__(self, server: ForkServer, pid: int, log_file: Path) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server
        self._log_file = log_file

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

    def read_tail(self) -> str:
        """The last of what it wrote, for an error message."""
        return self._log_file.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip() or "it wrote nothing"


def start(module: str, arguments: Sequence[str], environment: Mapping[str, str], log_file: Path) -> Child | Forked:
    """Begin a process that runs the module as `python -m` does, forked where that is as good."""
    if sys.platform == "linux":
        return ForkServer.one().fork(module, arguments, environment, log_file)
    return Child([sys.executable, "-m", module, *arguments], env=environment, log_file=log_file)


def exit_code(child: Child | Forked) -> int | None:
    """Of a process that was seen to have ended; the signal that killed it as a negative number."""
    return child.returncode if isinstance(child, Forked) else child._process.returncode
