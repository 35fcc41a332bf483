"""An audience: subscribers of one event stream, in processes of their own, and what each of them heard.

Rule: who missed an entry, got one twice or out of order has no delays, but ends the measurement.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.fleet import ROOT
from benchmarks.servers import Server

PROCESSES = 2
LINE_BYTES_MAX = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Audience:
    """Processes that follow."""

    processes: Sequence[Process]

    async def heard(self, positions: Sequence[int]) -> list[int]:
        """The microseconds of every receipt, when all of them have these entries.

        Raises:
            RuntimeError: one of them has something else.
        """
        told = await asyncio.gather(*(_told(process, positions[-1]) for process in self.processes))
        delays: list[int] = []
        for receipts in (receipts for one in told for receipts in one):
            check_complete([position for position, _ in receipts], positions)
            delays += [delay_us for _, delay_us in receipts]
        return delays


def check_complete(heard: Sequence[int], positions: Sequence[int]) -> None:
    """Raises `RuntimeError` unless one who followed heard these positions, each once and in order."""
    if list(heard) == list(positions):
        return
    missed = sorted(set(positions) - set(heard))
    twice = len(heard) - len(set(heard))
    raise RuntimeError(
        f"a subscriber heard {len(heard)} entries of {len(positions)}: it missed {missed[:10]}, heard {twice} "
        f"of them again, and {'not ' if list(heard) != sorted(heard) else ''}in order"
    )


@asynccontextmanager
async def audience(server: Server, path: str, count: int) -> AsyncIterator[Audience]:
    """So many subscribers, from when all of them follow."""
    shares = [share for n in range(PROCESSES) if (share := (count + n) // PROCESSES)]
    module = "benchmarks.audience_process"
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, str(server.port), path, str(share),
            cwd=ROOT, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES_MAX,
        )
        for share in shares
    ]  # fmt: skip
    try:
        for process in processes:
            assert await _line(process) == b"ready\n"
        yield Audience(processes)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _told(process: Process, last: int) -> list[list[tuple[int, int]]]:
    assert process.stdin is not None
    process.stdin.write(b"%d\n" % last)
    told: list[list[tuple[int, int]]] = json.loads(await _line(process))
    return told


async def _line(process: Process) -> bytes:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError(f"subscribers ended with {await process.wait()} before they had everything")
    return line
