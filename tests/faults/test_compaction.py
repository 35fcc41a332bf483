"""Faults amid a compaction: the journal is as before, or has that one compaction; nothing is said or done twice.

The summary is so long that it goes to a blob, which is written in the transaction of its entry, but before it.
"""

from dataclasses import dataclass, field

import pytest

from tests.faults.harness.relay import Relay
from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.sweep import at_least, sweep
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn

LONG: tuple[Step, ...] = (call("recite", characters=100_000), say("so it was " * 20_000, chunk_characters=10**6))
THEN: tuple[Step, ...] = (call("charge"), say("{result}"))
GAVE_WAY = ["context.offloaded", "context.compacted"]
SOME = {
    "sqlite": {
        "model:claimed:1": [],
        "insert_blob:1": [],
        "commit:3": [],
        "committed:3": GAVE_WAY,
        "model:answered:1": GAVE_WAY,
    },
    "postgres": {"insert_blob:1": [], "commit:3": [], "committed:3": GAVE_WAY},
}
"""Where the worker dies, and what of a compaction it leaves behind."""


@dataclass
class Conversation:
    """One that is too long from its second turn on."""

    world: World
    thread: str
    left: list[list[str]] = field(default_factory=list)

    async def begin(self) -> None:
        """The first turn."""
        turn = await self.world.submit(*LONG, thread=self.thread, agent="brief")
        await self.world.until_status(turn, "completed")

    async def go_on(self) -> Turn:
        """The second."""
        return await self.world.submit(*THEN, thread=self.thread, agent="brief")

    async def until_over(self, turn: Turn, worker: Worker) -> None:
        """Wait until the second turn has ended, or the worker; what a dead one left is remembered."""

        async def over() -> bool:
            return (await turn.status()).finished or not worker.is_running

        await self.world.until(over)
        if not worker.is_running:
            self.left.append(await self.gave_way(turn))

    async def gave_way(self, turn: Turn) -> list[str]:
        """What of compactions is in the journal."""
        return [kind for kind in await self.world.types(turn) if kind.startswith("context.")]

    async def assert_well(self, turn: Turn) -> None:
        """It is as if nothing had happened."""
        assert (await turn.status()).status == "completed"
        assert await self.gave_way(turn) == GAVE_WAY
        state = await self.world.thread(self.thread, "brief").state()
        assert state.summary == ("They talked. " * 6_000).strip()
        assert [message.text for message in state.context] == ["please", "", "", "charge done"]
        assert state.compaction.failures == 0
        assert len(set(self.world.ledger.keys("effect", "charge", turn.id))) == 1, "it may be repeated, under its key"
        first = [entry for entry in await self.world.entries(turn.key) if entry.turn_id != turn.id]
        assert [entry.type for entry in first].count("model.responded") == 2, "what gave way is in the journal still"


@pytest.mark.timeout(300)
async def test_a_worker_killed_amid_a_compaction_leaves_all_of_it_or_nothing_and_it_is_made_once(world: World) -> None:
    relay = await Relay.start(world)
    for place, left in SOME[world.journal.driver.dialect].items():
        long = Conversation(world, place)
        await long.begin()
        turn, struck = await relay.strike(place, long.go_on, long.until_over)
        assert struck, f"the worker never came to {place}"
        assert long.left == [left], place
        await long.assert_well(turn)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", ["commit", "committed"])
async def test_a_worker_killed_at_the_nth_commit_of_a_turn_that_compacts_leaves_all_of_it_or_nothing(
    small_world: World, point: str
) -> None:
    relay = await Relay.start(small_world)

    async def survives(place: str) -> bool:
        long = Conversation(small_world, place)
        await long.begin()
        turn, struck = await relay.strike(place, long.go_on, long.until_over)
        assert all(left in ([], GAVE_WAY) for left in long.left)
        await long.assert_well(turn)
        return struck

    assert await sweep(survives, point) >= at_least(6), "a turn of two steps and a compaction commits so often"


@pytest.mark.timeout(300)
async def test_a_compaction_whose_commit_is_never_acknowledged_or_fails_once_is_made_once(world: World) -> None:
    worker = await world.start_worker()
    for fault in ("raise@committed:3", "raise@commit:3"):
        long = Conversation(world, fault)
        await long.begin()
        worker.arm(fault)
        turn = await long.go_on()
        await long.until_over(turn, worker)
        assert len(worker.logged("fault_strikes")) == 1 + (fault == "raise@commit:3")
        await long.assert_well(turn)
