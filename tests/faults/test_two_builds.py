"""A new build is rolled out while turns run, and rolled back: each turn goes on, and nothing twice.

The other build's workflows begin with one activity more, so that neither build can replay a run of the other.
"""

from pathlib import Path

import pytest

from tests.faults.harness.build import make_build
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.journal.control import REDUCER_VERSION

CHANGED = {
    "workflows/turn.py": (
        "= await self._claim()\n        while",
        "= await self._claim()\n        await wake_thread(ThreadInput(self._given.thread))\n        while",
    ),
    "workflows/thread.py": (
        "            found = await self._dispatch(given)\n",
        "            await self._dispatch(given)\n            found = await self._dispatch(given)\n",
    ),
}
PATIENT = {"stall_s": 5}
BEGUN_ANEW = "Failing workflow due to nondeterminism error"


@pytest.mark.parametrize("direction", ["forward", pytest.param("back", marks=pytest.mark.slow)])
async def test_turns_of_every_kind_go_on_with_workers_of_another_build(
    small_world: World, tmp_path: Path, direction: str
) -> None:
    world = small_world
    changed = make_build(tmp_path / "build", CHANGED)
    first, second = (None, changed) if direction == "forward" else (changed, None)
    coming = world.prepare_worker(build=second, settings=PATIENT)
    leaving = await world.start_worker(build=first, settings=PATIENT)
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


async def test_an_older_worker_refuses_what_is_newer_and_a_newer_one_begins_when_it_has_left(
    small_world: World, tmp_path: Path
) -> None:
    """The test is the newer client: what it submits is not for the older worker to touch."""
    world = small_world
    folds = (f"REDUCER_VERSION = {REDUCER_VERSION}", f"REDUCER_VERSION = {REDUCER_VERSION - 1}")
    older = await world.start_worker(build=make_build(tmp_path / "build", {"journal/control.py": folds}))
    turn = await world.submit(call("post"), say("{result}"))
    await older.until_logged("written_by_a_newer_version")
    [said] = older.logged("written_by_a_newer_version")
    assert f"reducer version {REDUCER_VERSION}, this process has {REDUCER_VERSION - 1}; upgrade it" in said["error"]
    newer = world.prepare_worker()
    world.ledger.open(newer.name)
    await newer.until_logged("waiting")
    assert f"workers of an older version are at work (worker {older.pid})" in newer.logged("waiting")[0]["error"]
    assert not newer.logged("worker_ready")
    older.terminate()
    assert await older.until_ended() == 0
    await world.until_status(turn, "completed")
    assert world.ledger.pids("effect", "post") == [newer.pid]
    assert "Completing activity as failed" not in older.log
