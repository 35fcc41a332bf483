"""All checkpoints are deleted behind everybody's back, and the states are folded from the entries again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from examples.demo.crew import worker_environment
from examples.demo.scene import Saw, Scene
from examples.demo.stage import SESSION, USER, Stage
from turnwright.client import Client

SAME = "All checkpoints are deleted: the states rebuilt from the entries are identical, byte for byte"
VERIFIED = "The hash chain of every thread verifies, and so does everything derived from it"
VERIFY_TIMEOUT_S = 60.0


async def play(stage: Stage, saw: Saw) -> None:
    """Read all states, delete, read again, verify."""
    before = await read_states(stage)
    deleted = await asyncio.to_thread(delete_checkpoints, stage.place.journal_file)
    stage.screen.say(f"{deleted} checkpoints are deleted", "bold red")
    began_s = time.monotonic()
    after = await read_states(stage)
    took_s = time.monotonic() - began_s
    size = sum(map(len, after.values()))
    seen = f"{deleted} deleted; {len(after)} states, {size:,} bytes rebuilt in {took_s:.2f} s: "
    seen += "identical" if before == after else "DIFFERENT"
    saw(SAME, seen, ok=deleted > 0 and bool(after) and before == after)
    code, told = await verify(stage)
    saw(VERIFIED, told, ok=code == 0)


async def read_states(stage: Stage) -> dict[str, bytes]:
    """The agents' states of all threads, read by a client that remembers nothing."""
    async with Client.connect(stage.client.settings) as client:
        session = client.session(USER, SESSION)
        states: dict[str, bytes] = {}
        page = await session.threads(limit=100)
        for seen in page.items:
            state = await session.thread(seen.key.agent, seen.key.thread).state()
            states[seen.key.canonical] = state.model_dump_json().encode()
        return states


def delete_checkpoints(journal_file: Path) -> int:
    """Delete the rows in the file; how many there were."""
    with closing(sqlite3.connect(journal_file, timeout=10)) as connection, connection:
        return connection.execute("DELETE FROM checkpoints").rowcount


async def verify(stage: Stage) -> tuple[int, str]:
    """`turnwright journal verify`, as anybody would call it; its exit code and its last line."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwright.worker.main", "journal", "verify"),
        env={**os.environ, **worker_environment(stage.place, stage.temporal.address, stage.model.base_url)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(VERIFY_TIMEOUT_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = output.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    for line in lines:
        stage.screen.tell("verify", line)
    return process.returncode or 0, lines[-1]


SCENE = Scene("Deleted checkpoints, verified chains", (SAME, VERIFIED), play)
