"""An error, a wait or a broken connection at one durability boundary after the other: the worker itself goes on, and
the conversation ends as the undisturbed one.

    FAULT_SWEEPS=1 pytest tests/faults/test_broken_points.py

does every kind at every point on every store that can suffer it; without it errors on SQLite are done, see `sweep`.
"""

from pathlib import Path

import pytest

from tests.faults.harness.errands import LONG, SHORT, goes_on, said_undisturbed
from tests.faults.harness.sweep import ALL, at_least, sweep
from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer

SOME = {
    "sqlite": ("raise@begin:9", "delay=0.3@any:5", "delay=0.3@tool:claimed:1", "delay=0.05@any:1+"),
    "postgres": (
        "raise@begin:9", "raise@commit:3", "raise@tool:ran:1", "raise@model:claimed:2", "delay=0.05@any:1+",
        "drop@begin:9", "drop@commit:2", "drop@committed:4", "drop@append:3", "drop@tool:claimed:1", "drop@tool:ran:1",
        "drop@model:answered:1", "drop@thread:looked:1", "deafen@commit:1", "deafen@commit:5",
    ),
}  # fmt: skip
EVERY = (
    *(("sqlite", kind) for kind in ("raise", "delay=0.3")),
    *(("postgres", kind) for kind in ("raise", "delay=0.3", "drop", "deafen")),
)
SWEEPS = EVERY if ALL else (("sqlite", "raise"),)


@pytest.mark.timeout(300)
async def test_an_error_a_wait_or_a_broken_connection_at_any_of_some_points_changes_nothing_in_the_end(
    world: World,
) -> None:
    worker = await world.start_worker()
    expected = await said_undisturbed(world, SHORT, worker)
    for fault in SOME[world.journal.driver.dialect]:
        assert await goes_on(world, SHORT, worker, fault, expected), f"the worker never came to {fault}"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("store", "kind"), SWEEPS)
async def test_whatever_strikes_at_the_nth_point_changes_nothing_in_the_end(
    request: pytest.FixtureRequest, tmp_path: Path, temporal: TemporalServer, store: str, kind: str
) -> None:
    async with World.open(request.getfixturevalue(f"{store}_url"), tmp_path, temporal) as world:
        worker = await world.start_worker()
        expected = await said_undisturbed(world, SHORT, worker)
        struck = await sweep(lambda place: goes_on(world, SHORT, worker, place, expected), f"{kind}@any")
        assert struck >= at_least(20), "so many points there are"


async def test_turns_come_to_the_undisturbed_end_though_no_commit_is_ever_acknowledged(world: World) -> None:
    """Each append's answer is lost, so each is made again, and found to be there."""
    worker = await world.start_worker()
    expected = await said_undisturbed(world, LONG, worker)
    assert await goes_on(world, LONG, worker, "raise@committed:1+", expected)
