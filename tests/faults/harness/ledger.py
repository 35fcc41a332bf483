"""What really happened, in a file outside the system: one synced line for each effect, with its idempotency key.

Rule: nothing of ours reads or repairs it but the tools of these tests, which stand for the outside world.
"""

import asyncio
import os
from pathlib import Path

FOLDER_VARIABLE = "FAULTS_FOLDER"
START_GATE_VARIABLE = "FAULTS_START_GATE"
GATE_POLL_S = 0.01


class Ledger:
    """The file, and the gates beside it that tools wait for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "ledger"

    def write(self, what: str, tool: str, key: str) -> None:
        """Append a line and wait for the disk, so that no kill takes it back."""
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{what} {tool} {os.getpid()} {key}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lines(self) -> list[list[str]]:
        """What, tool, process and key of each line."""
        if not self._file.exists():
            return []
        return [line.split(" ", 3) for line in self._file.read_text("utf-8").splitlines()]

    def keys(self, what: str, tool: str = "", turn_id: str = "") -> list[str]:
        """The keys of the lines about that, one for each line."""
        wanted = [line for line in self.lines() if line[0] == what and tool in ("", line[1])]
        return [key for *_, key in wanted if key.startswith(turn_id)]

    def pids(self, what: str, tool: str = "") -> list[int]:
        """The processes that wrote these lines."""
        return [int(line[2]) for line in self.lines() if line[0] == what and tool in ("", line[1])]

    def open(self, gate: str) -> None:
        """Let tools pass."""
        (self._folder / f"gate.{gate}").touch()

    def is_open(self, gate: str) -> bool:
        """Whether it is."""
        return (self._folder / f"gate.{gate}").exists()

    async def gate(self, gate: str) -> None:
        """Wait until that gate is open; none is named: go on."""
        while gate and not self.is_open(gate):
            await asyncio.sleep(GATE_POLL_S)
