"""A gateway of little patience as a process: `python -m tests.integration.client.gateway_process URL PORT`."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.integration.client.gateway_server import settings_of
from turnwright.client.gateway.serve import Gateway
from turnwright.worker.leaving import run_until_signalled
from turnwright.worker.logs import configure_logs

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 1.0
BODY_BYTES_MAX = 200_000
START_S_MAX = 30
LEAVE_S_MAX = 20
LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Process:
    """It runs, and listens on that port of this machine."""

    port: int
    running: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def resident_bytes(self) -> int:
        """How much memory it has now."""
        return int(Path(f"/proc/{self.running.pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def connections(self) -> int:
        """How many connections it holds, as the kernel has it."""
        lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
        fields = [line.split() for line in lines]
        port, listens, nobodys = f":{self.port:04X}", "0A", "0"
        return sum(one[1].endswith(port) and one[3] != listens and one[9] != nobodys for one in fields)


@contextlib.contextmanager
def gateway_process(journal_url: str, log: Path) -> Iterator[Process]:
    """A gateway of that journal, which is there already."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with log.open("wb") as out:
        command = [sys.executable, "-m", __name__, journal_url, str(port)]
        running = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)
    try:
        _until_it_listens(running, port, log)
        yield Process(port, running, log)
    finally:
        running.terminate()
        try:
            running.wait(LEAVE_S_MAX)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _until_it_listens(running: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until_s = time.monotonic() + START_S_MAX
    while time.monotonic() < until_s:
        assert running.poll() is None, log.read_text("utf-8", "replace")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(LOOK_S)
    raise AssertionError(log.read_text("utf-8", "replace"))


def main() -> None:
    configure_logs("json", "info", sys.stderr)
    settings = settings_of(
        sys.argv[1],
        port=int(sys.argv[2]),
        body_bytes_max=BODY_BYTES_MAX,
        body_timeout_s=PATIENCE_S,
        patience_s=PATIENCE_S,
        send_timeout_s=PATIENCE_S,
        heartbeat_s=PATIENCE_S / 4,
        streams_max=3,
        requests_per_s=1_000_000,
        requests_at_once=1_000_000,
    )
    run_until_signalled(Gateway(settings), LEAVE_S_MAX)


if __name__ == "__main__":
    main()
