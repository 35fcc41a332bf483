"""`turnwright recover` as an operator calls it."""

import asyncio
import json
import sys
from typing import Any

from tests.faults.harness.world import World

NOW = {"stall_s": 0.001}  # whatever has been in the journal for so long is stalled


async def recover(world: World, *options: str, temporal: str = "") -> tuple[int, list[dict[str, Any]]]:
    """The command as an operator gives it; its exit code and the objects it told. `temporal`: another address."""
    address = temporal or world.temporal.address
    place = ("--journal", world.journal_url, "--task-queue", world.queue, "--temporal-address", address)
    command = (sys.executable, "-m", "turnwright.worker.main", *place, "recover", "--json", *options)
    environment = world.environment("recover", NOW)
    process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1, env=environment)
    told, erred = await process.communicate()
    lines = [json.loads(line) for line in (told + erred).splitlines() if line.startswith(b"{")]
    assert process.returncode is not None
    return process.returncode, lines
