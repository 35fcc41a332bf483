"""Clocks that are wrong: of a worker, or of the store, which is a worker's on SQLite. Nothing is lost, nothing twice,
and nobody waits for a wrong clock to be overtaken.
"""

import time
from datetime import datetime
from pathlib import Path

from tests.faults.harness.clock import WallClock
from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn

WRONG_S = 600.0
STUMBLE: Step = {"fail": "transient", "times": 1}
ERRAND = (call("post"), STUMBLE, call("transfer"), call("charge"), say("{result}"))
SOON_S = 90.0


async def test_workers_whose_clocks_are_ten_minutes_ahead_and_behind_carry_out_everything_once(
    world: World, tmp_path: Path
) -> None:
    """Each takes what it gets, and another one goes on with what the one ahead had begun."""
    ahead = await world.start_worker(surroundings=WallClock(tmp_path / "ahead", WRONG_S).surroundings)
    assert is_wrong_by(WRONG_S, ahead)
    before = await world.submit(*ERRAND, thread="before")
    await world.until_status(before, "completed", deadline_s=SOON_S)
    held = await world.submit(call("look", after="held"), *ERRAND, thread="held")
    await world.until_ledger("effect", "look")
    behind = await world.start_worker(surroundings=WallClock(tmp_path / "behind", -WRONG_S).surroundings)
    assert is_wrong_by(-WRONG_S, behind)
    ahead.kill()
    world.ledger.open("held")
    after = await world.submit(*ERRAND, thread="after")
    for turn in (held, after):
        await world.until_status(turn, "completed", deadline_s=SOON_S)
    for turn in (before, held, after):
        await had_once(world, turn)
    assert behind.is_running


async def test_a_clock_that_is_set_back_in_the_middle_of_a_turn_holds_nothing_up(
    small_world: World, tmp_path: Path
) -> None:
    world = small_world
    clock = WallClock(tmp_path / "clock", 0)
    worker = await world.start_worker(surroundings=clock.surroundings)
    assert is_wrong_by(0, worker)
    await worker.until_logged("sweeper_leads")  # it has seen the time of before
    turn = await world.submit(call("look", after="set back"), *ERRAND)
    await world.until_ledger("effect", "look")
    clock.set(-WRONG_S)
    await worker.until_logged("store_clock_set_back")
    world.ledger.open("set back")
    await world.until_status(turn, "completed", deadline_s=SOON_S)
    await had_once(world, turn)
    times = [entry.at_us for entry in await world.entries(turn.key)]
    assert times == sorted(times), "a thread's time never goes back"


def is_wrong_by(wrong_s: float, worker: Worker) -> bool:
    """Whether a worker that has just become ready has such a clock, by what it stamps its log with."""
    stamp = worker.logged("worker_ready")[0]["timestamp"]
    return abs(datetime.fromisoformat(stamp).timestamp() - time.time() - wrong_s) < WRONG_S / 2


async def had_once(world: World, turn: Turn) -> None:
    keys = [world.ledger.keys("effect", tool, turn.id) for tool in ("post", "transfer", "charge")]
    assert [len(set(found)) for found in keys] == [1, 1, 1]
    assert [len(found) for found in keys[:2]] == [1, 1]
