"""The journal is verified, and so is a copy in which one word was changed: a proof that cannot fail proves nothing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from examples.demo.crew import worker_environment
from examples.demo.scene import Saw, Scene
from examples.demo.scenes.conversation import SOLD
from examples.demo.stage import Stage

VERIFIED = "Every hash chain verifies, and so does everything that is derived from the entries"
FOUND = "One changed word in a copy of the journal is found"
FORGED = "robbed the shop"
VERIFY_TIMEOUT_S = 60.0
FAILED = 1


async def play(stage: Stage, saw: Saw) -> None:
    """Verify, forge a copy, verify that."""
    code, lines = await verify(stage, stage.place.journal_file)
    saw(VERIFIED, lines[-1], ok=code == 0)
    copy = stage.place.folder / "forged.db"
    changed = await asyncio.to_thread(forge, stage.place.journal_file, copy)
    stage.screen.say(f"“{SOLD}” becomes “{FORGED}” in {changed} entry of a copy", "bold red")
    code, lines = await verify(stage, copy)
    saw(FOUND, lines[0], ok=changed == 1 and code == FAILED)


def forge(journal_file: Path, copy: Path) -> int:
    """Copy the journal and change one entry in it, past all programs; how many were changed."""
    with closing(sqlite3.connect(journal_file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        with target:
            return target.execute(
                "UPDATE payloads SET body = CAST(replace(CAST(body AS TEXT), ?1, ?2) AS BLOB) WHERE rowid ="
                " (SELECT max(rowid) FROM payloads WHERE instr(CAST(body AS TEXT), ?1))",
                (SOLD, FORGED),
            ).rowcount


async def verify(stage: Stage, journal_file: Path) -> tuple[int | None, list[str]]:
    """`turnwright journal verify`, as anybody would call it; its exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwright.worker.main", "--journal", str(journal_file), "journal", "verify"),
        env={**os.environ, **worker_environment(stage.place, stage.temporal.address, stage.model.base_url)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        with stage.screen.waiting("verifying"):
            async with asyncio.timeout(VERIFY_TIMEOUT_S):
                output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = output.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    for line in lines:
        stage.screen.tell("journal verify", line)
    return process.returncode, lines


SCENE = Scene("Hash chains", (VERIFIED, FOUND), play)
