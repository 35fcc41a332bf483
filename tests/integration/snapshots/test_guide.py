"""The guide's code does what the guide says."""

import pytest

from tests.integration.guides import Guide
from turnwright.journal.agent_state import empty_state
from turnwright.journal.errors import SnapshotConflict
from turnwright.journal.ids import ThreadKey
from turnwright.journal.snapshots import Offer, SnapshotKey, open_snapshots

THREAD = ThreadKey("default", "alice", "shop", "order-17")


async def test_a_state_is_loaded_and_one_of_ones_own_is_kept_as_the_guide_says(
    file_place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_snapshots(file_place) as store:
        await store.put(SnapshotKey(THREAD), Offer.of_state(empty_state(THREAD).model_copy(update={"as_of_seq": 12})))
        guide = Guide("snapshots.md", snapshots=store, thread=THREAD, as_of_seq=12)
        loading = guide.block("snapshots.load").replace("redis://cache.example.com:6379/0", file_place)
        await guide.run(loading)
        assert capsys.readouterr().out.split() == ["12", "1", "0"]
        guide.names["snapshots"] = store
        putting = guide.block("Offer.of_value")
        await guide.run(putting)
        kept = await store.load(SnapshotKey(THREAD, "report"))
        assert kept is not None
        assert (kept.version, kept.value) == (2, {"open": 2})
        guide.names["as_of_seq"] = 11
        with pytest.raises(SnapshotConflict):
            await guide.run(putting)
