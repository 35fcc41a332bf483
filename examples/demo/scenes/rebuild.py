"""All checkpoints are deleted behind everybody's back, and the states are folded from the entries again."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from examples.demo.scene import Saw, Scene
from examples.demo.stage import SESSION, USER, Stage
from turnwright.client import Client

SAME = "All checkpoints are deleted: the states rebuilt from the entries are identical, byte for byte"


async def play(stage: Stage, saw: Saw) -> None:
    """Read all states, delete, read again."""
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


SCENE = Scene("Deleted checkpoints", (SAME,), play)
