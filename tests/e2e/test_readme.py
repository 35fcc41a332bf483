"""What README shows a stranger is what happens: its two files and its commands, as they stand there."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.terminal import blocks, dev, shown, told, written

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PAGE = "README.md"


def commands() -> list[str]:
    """The command lines of the example, without their remarks."""
    [block] = [block for block in blocks(PAGE, "sh") if block.startswith("turnwright dev")]
    return [line.partition(" #")[0].strip() for line in block.splitlines()]


def over_http(folder: Path) -> str:
    """The request of the page, at the port that this dev has: another may run here."""
    [block] = [block for block in blocks(PAGE, "sh") if block.startswith("curl")]
    url = json.loads((folder / ".turnwright" / "dev.json").read_text())["gateway_url"]
    assert "http://127.0.0.1:8420/" in block
    return block.strip().replace("http://127.0.0.1:8420", url)


async def test_the_example_runs_as_it_stands_there(tmp_path: Path) -> None:
    assert written(PAGE, tmp_path) == ["shop.py", "ask.py"]
    first, ask, listed, approve, turns, why = commands()
    async with dev(tmp_path, first):
        answer = asyncio.create_task(told(tmp_path, ask))
        question = await shown(tmp_path, listed, r"^q-\S+")
        turn = await shown(tmp_path, turns, r"^t-\w+")
        assert question in await told(tmp_path, why.replace("TURN", turn))
        assert not answer.done()
        if shutil.which("curl"):  # the one program of the page that a fresh machine may lack
            assert question in await told(tmp_path, over_http(tmp_path))
        await told(tmp_path, approve.replace("QUESTION", question))
        assert await answer == "Done: order 88235 is cancelled.\n"
        assert "completed" in await told(tmp_path, turns)


async def test_the_answer_counts_though_nothing_runs_when_it_is_given(tmp_path: Path) -> None:
    written(PAGE, tmp_path)
    first, ask, listed, approve, turns, _ = commands()
    async with dev(tmp_path, first):
        answer = asyncio.create_task(told(tmp_path, ask))
        question = await shown(tmp_path, listed, r"^q-\S+")
    await told(tmp_path, approve.replace("QUESTION", question))
    assert "running" in await told(tmp_path, turns)
    assert not answer.done()
    async with dev(tmp_path, first):
        assert await answer == "Done: order 88235 is cancelled.\n"
