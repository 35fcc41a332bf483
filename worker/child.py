"""One process of ours: it writes to its own log, never outlives us, and ends when asked or else by force.

Start it from a thread that lives as long as the child should, such as the main one: on Linux the child ends
together with the thread that started it.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from turnwright.worker import lifeline

LOG_BYTES_MAX = 10_000_000
HEAD_BYTES_MAX = 64_000
TAIL_BYTES = 2_000


class Child:
    """A running child process; made by starting it."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, log_file: Path | None = None
    ) -> None:
        self._output = _open_log(log_file)
        self._begins_at = os.fstat(self._output.fileno()).st_size
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", lifeline.__file__, str(os.getpid()), *command],
            stdin=subprocess.PIPE,  # held open while we live, which the lifeline may watch
            stdout=self._output,
            stderr=self._output,
            env=env,
            start_new_session=True,  # Ctrl-C is for us: children are stopped in their order
        )

    @property
    def pid(self) -> int:
        """The process id of the command."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process is there; it may have ended by itself."""
        return self._process.poll() is None

    async def stop(self, timeout_s: float) -> bool:
        """Ask the process to end, then kill it; the answer is whether asking was enough."""
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, timeout_s)
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.kill()
        return True

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._output.close()

    def read_head(self) -> str:
        """The first of what this process wrote; a log may begin with what others wrote before it."""
        return os.pread(self._output.fileno(), HEAD_BYTES_MAX, self._begins_at).decode(errors="replace")

    def read_tail(self) -> str:
        """The last of what it wrote, for an error message."""
        size = os.fstat(self._output.fileno()).st_size
        text = os.pread(self._output.fileno(), TAIL_BYTES, max(0, size - TAIL_BYTES))
        return text.decode(errors="replace").strip() or "it wrote nothing"


def _open_log(log_file: Path | None) -> IO[bytes]:
    """The log, appended to; one that has grown large is kept once, under another name."""
    if log_file is None:
        return tempfile.TemporaryFile()
    log_file.parent.mkdir(parents=True, exist_ok=True)
    if log_file.exists() and log_file.stat().st_size > LOG_BYTES_MAX:
        log_file.replace(log_file.with_name(f"{log_file.name}.1"))
    return log_file.open("a+b")
