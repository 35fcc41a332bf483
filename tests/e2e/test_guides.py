"""The commands of the guide to writing an agent do what it says, with the file it shows."""

from pathlib import Path

import pytest

from tests.e2e.terminal import blocks, dev, shown, told, written

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PAGE = "docs/guides/writing-an-agent.md"


async def test_the_agent_of_the_guide_is_served_and_its_refund_waits_for_a_person(tmp_path: Path) -> None:
    assert "shop.py" in written(PAGE, tmp_path)
    [block] = blocks(PAGE, "sh")
    serve, submit, turns = block.splitlines()
    async with dev(tmp_path, serve):
        await told(tmp_path, submit)
        assert await shown(tmp_path, turns, "waiting")
        assert 'refund({"amount": 40, "order": "88235"})' in await told(tmp_path, "turnwright approvals list")
        assert not (tmp_path / "payments").exists()
