"""What README shows a stranger is what happens: its two files and its commands, as they stand there."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEADLINE_S = 100
MODEL = 'model="openai:gpt-5"'
ORDER = "88235"
STEPS = [{"call": [{"name": "cancel_order", "arguments": {"order": ORDER}}]}, {"say": "Done: {result}."}]
READY = b"Ctrl-C ends it"


def block(language: str, first_line: str) -> str:
    """The block of the README that begins so."""
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if block.startswith(first_line)]
    return found


def commands() -> list[list[str]]:
    """The command lines that follow the example."""
    lines = [line.partition("#")[0].split() for line in block("sh", "turnwright dev").splitlines()]
    return [line for line in lines if line]


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "TURNWRIGHT_"))}
    return clean | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the README's files; the model alone is one that needs no account."""
    agents = block("python", "# shop.py")
    assert agents.count(MODEL) == 1
    scripted = f'model="scripted:", model_settings={{"steps": {STEPS!r}}}'
    (tmp_path / "shop.py").write_text(agents.replace(MODEL, scripted), encoding="utf-8")
    (tmp_path / "ask.py").write_text(block("python", "# ask.py"), encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def running(folder: Path, *words: str) -> AsyncIterator[None]:
    """`turnwright dev` in that folder, ready; ended with Ctrl-C."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=environment(), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            while READY not in (line := await process.stdout.readline()):
                assert line, "dev ended before it was ready"
        yield
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(DEADLINE_S):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def told(folder: Path, *words: str) -> str:
    """What a command that must succeed prints."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=environment(), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(DEADLINE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0, words
    return out.decode()


async def test_the_example_runs_as_it_stands_there(shop: Path) -> None:
    dev, ask, turns, why = commands()
    async with running(shop, *dev):
        assert await told(shop, *ask) == f"Done: order {ORDER} is cancelled.\n"
        listed = await told(shop, *turns)
        assert "completed" in listed
        [turn] = re.findall(r"^t-\w+", listed, re.MULTILINE)
        assert why[-1].startswith("t-")
        assert await told(shop, *why[:-1], turn) != ""
