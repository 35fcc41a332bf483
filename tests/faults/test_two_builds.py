"""A new build is rolled out while turns run, and rolled back: each turn goes on, and nothing twice.

The other build's workflows begin with a timer, so that neither build can replay a run of the other.
"""

from pathlib import Path

import pytest

from tests.faults.harness.build import make_build
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World

CHANGED = {
    "workflows/turn.py": (
        "        self._next = await self._claim()\n        while",
        "        await asyncio.sleep(0.001)\n        self._next = await self._claim()\n        while",
    ),
    "workflows/thread.py": ('        turn = ""\n', '        turn = ""\n        await workflow.sleep(0.001)\n'),
}
BEGUN_ANEW = "Failing workflow due to nondeterminism error"


@pytest.mark.parametrize("direction", ["forward", "back"])
async def test_turns_of_every_kind_go_on_with_workers_of_another_build(
    small_world: World, tmp_path: Path, direction: str
) -> None:
    world = small_world
    changed = make_build(tmp_path / "build", CHANGED)
    first, second = (None, changed) if direction == "forward" else (changed, None)
    coming = world.prepare_worker(build=second)
    leaving = await world.start_worker(build=first)
    running = await world.submit(call("post", after="posted"), call("charge"), say("{result}"))
    queued = await world.submit(say("my turn"))
    parked = await world.submit(call("look", after="looked"), call("charge"), say("{result}"), thread="parked")
    waiting = await world.submit(call("charge"), say("{result}"), thread="waiting", agent="asking")
    slow_down = {"fail": "rate_limited", "retry_after_s": 4, "times": 1}
    delayed = await world.submit(slow_down, say("at last"), thread="delayed")
    await world.until_ledger("effect", "look")
    await parked.pause()
    world.ledger.open("looked")
    await world.until_status(parked, "paused")
    await world.until_status(waiting, "waiting")
    await world.until_ledger("effect", "post")
    await world.until_entry(delayed.key, "model.failed")

    await world.let_work(coming)
    meanwhile = [await world.submit(call("look"), say("{result}"), thread=f"meanwhile {n}") for n in range(4)]
    leaving.terminate()
    await leaving.until_logged("worker_draining")
    world.ledger.open("posted")
    assert await leaving.until_ended() == 0
    await parked.resume()
    [question] = (await world.client.inbox()).items
    await world.client.approve(question.interaction_id)
    for turn in (running, queued, parked, waiting, delayed, *meanwhile):
        await world.until_status(turn, "completed")

    assert [len(world.ledger.keys("effect", tool)) for tool in ("post", "look", "charge")] == [1, 5, 3]
    assert set(world.ledger.pids("effect", "charge")) == {coming.pid}
    assert (await world.types(delayed)).count("model.requested") == 2
    assert not world.logged("turn_restarted"), "no run stood still until the sweeper found it"
    assert world.logged(BEGUN_ANEW), "the builds differ"
