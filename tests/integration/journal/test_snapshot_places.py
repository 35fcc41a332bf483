"""A place of snapshots belongs to one journal, and another one says so instead of writing there."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.integration.journal.conftest import KEY, Played
from tests.integration.journal.forking import said
from turnwright.journal.errors import SnapshotsTaken
from turnwright.journal.snapshots.files import FileSnapshots
from turnwright.journal.snapshots.projecting import Projection
from turnwright.journal.snapshots.snapshot import SnapshotKey
from turnwright.journal.transact.snapshotting import find_due_snapshots
from turnwright.worker.snapshots import Snapshots

DEADLINE_S = 30


async def test_two_journals_with_one_place_never_write_over_each_other(
    played: Played, target: Played, tmp_path: Path
) -> None:
    store = FileSnapshots(tmp_path / "snapshots")
    await said(played, "mine")
    await said(target, "theirs")
    loops = [Snapshots(each.journal, FileSnapshots(tmp_path / "snapshots")) for each in (played, target)]
    with capture_logs() as logs:
        try:
            async with asyncio.timeout(DEADLINE_S):
                await loops[0].start()
                while (found := await store.load(SnapshotKey(KEY))) is None:
                    await asyncio.sleep(0.02)
                await loops[1].start()
                while not (failed := [log for log in logs if log["event"] == "actor_failed"]):
                    await asyncio.sleep(0.02)
        finally:
            for loop in loops:
                await loop.stop()
    mine = await played.journal.journal_id()
    assert "SnapshotsTaken" in failed[0]["error"]
    assert mine in failed[0]["error"]
    assert await store.load(SnapshotKey(KEY)) == found
    assert found.state == await played.journal.state(KEY)
    [due] = (await target.journal.driver.read(partial(find_due_snapshots, store.name, 0, 10))).threads
    assert due.reached is None, "nothing was begun there"
    projection = Projection(target.journal, store)
    for command in (projection.verify, projection.rebuild):
        with pytest.raises(SnapshotsTaken, match=mine):
            [proof async for proof in command()]
    assert await store.load(SnapshotKey(KEY)) == found


async def test_who_only_compares_takes_no_place(played: Played, tmp_path: Path) -> None:
    store = FileSnapshots(tmp_path / "snapshots")
    await store.start()
    await said(played, "mine")
    assert [proof.finding async for proof in Projection(played.journal, store).verify()] == ["missing"]
    assert await store.owner() == ""
    assert [proof.finding async for proof in Projection(played.journal, store).rebuild()] == ["same"]
    assert await store.owner() == await played.journal.journal_id()
