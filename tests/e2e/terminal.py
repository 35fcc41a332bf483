"""A terminal in a folder, as a reader of the pages has one: a page's files, and its commands as they stand there."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 100
POLL_S = 0.2
READY = b"Ctrl-C ends it"


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in that language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)


def written(page: str, folder: Path) -> list[str]:
    """Write the page's files, which say their names in their first line, into a folder."""
    found = [re.match(r"# (\w+\.py)\n", block) for block in blocks(page, "python")]
    for name, block in zip(found, blocks(page, "python"), strict=True):
        if name is not None:
            (folder / name[1]).write_text(block, encoding="utf-8")
    return [name[1] for name in found if name is not None]


def environment() -> dict[str, str]:
    """That of a shell in which the virtual environment is active."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "TURNWRIGHT_"))}
    return clean | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@asynccontextmanager
async def dev(folder: Path, line: str) -> AsyncIterator[None]:
    """A terminal with `turnwright dev`, ready; ended with Ctrl-C."""
    process = await _started(folder, line)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            while READY not in (said := await process.stdout.readline()):
                assert said, "dev ended before it was ready"
        yield
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(DEADLINE_S):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def told(folder: Path, line: str) -> str:
    """What a command that must succeed prints."""
    process = await _started(folder, line)
    async with asyncio.timeout(DEADLINE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0, line
    return out.decode()


async def shown(folder: Path, line: str, pattern: str) -> str:
    """What a command shows, once it shows that."""
    async with asyncio.timeout(DEADLINE_S):
        while (found := re.search(pattern, await told(folder, line), re.MULTILINE)) is None:
            await asyncio.sleep(POLL_S)
    return found[0]


async def _started(folder: Path, line: str) -> asyncio.subprocess.Process:
    # By a shell, as they are written; `exec`, so that a signal reaches the command itself.
    return await asyncio.create_subprocess_shell(
        f"exec {line}", cwd=folder, env=environment(), stdout=asyncio.subprocess.PIPE
    )
