"""The disk of a SQLite journal is full in the middle of a turn: who gives a command is told, workers wait, and when
there is room everything goes on.
"""

from pathlib import Path

import pytest

from tests.faults.harness.disk import mount_disk
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.journal.errors import StoreUnavailable
from turnwright.worker.temporal_server import TemporalServer


async def test_a_full_disk_is_said_and_waited_out_and_nothing_is_doubled(
    tmp_path: Path, temporal: TemporalServer
) -> None:
    with mount_disk(tmp_path / "disk") as disk:
        async with World.open(f"sqlite:///{disk.folder}/journal.db", tmp_path, temporal) as world:
            late = world.prepare_worker()
            worker = await world.start_worker()
            turn = await world.submit(call("post", before="full", after="posted"), call("charge"), say("{result}"))
            await world.until_ledger("began", "post")
            disk.fill()
            with pytest.raises(StoreUnavailable, match=r"full.*check the disk"):
                await world.submit(say("hello"), thread="other", request_id="refused")
            world.ledger.open("full")
            await world.until_ledger("effect", "post")
            world.ledger.open("posted")
            world.ledger.open(late.name)
            await worker.until_logged("store_unavailable")
            await late.until_logged("waiting")
            assert (await turn.status()).status == "running"
            disk.free()
            await world.until_status(turn, "completed")
            other = await world.submit(say("hello"), thread="other", request_id="refused")
            assert other.receipt is not None
            assert not other.receipt.duplicate
            await world.until_status(other, "completed")
            await late.until_ready()
            assert [len(world.ledger.keys("effect", tool)) for tool in ("post", "charge")] == [1, 1]
            assert (await world.types(turn)).count("tool.started") == 2
            for process in world.workers:
                process.kill()
