"""What the harness says of a process at every moment of its life, its last included."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.faults.harness.worker import DEADLINE_S, POLL_S
from tests.faults.harness.world import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in /proc of a process that has ended")


@pytest.mark.parametrize("ends_by_itself", [True, False], ids=["ended by itself", "killed"])
async def test_a_process_that_has_ended_is_neither_running_nor_frozen_and_others_can_be_started(
    world: World, ends_by_itself: bool
) -> None:
    worker = await world.start_worker()
    worker.freeze()
    await worker.until_frozen()
    worker.thaw()
    if ends_by_itself:  # and nobody has asked after it since
        os.kill(worker.pid, signal.SIGKILL)
        await until_unburied(worker.pid)
    else:
        worker.kill()
    assert not worker.is_frozen
    await worker.until_ended()  # of a process with threads the end is told when the last of them has ended
    assert not worker.is_frozen
    assert (await world.start_worker()).is_running


async def until_unburied(pid: int) -> None:
    """Until it has ended, which its parent is still to be told."""
    async with asyncio.timeout(DEADLINE_S):
        while Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z":
            await asyncio.sleep(POLL_S)
