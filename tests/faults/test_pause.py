"""A pause outlives everything: the worker, the engine, and whoever resumes at a revision that is not the turn's."""

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.client import CommandRejected
from turnwright.worker.temporal_server import TemporalServer


async def test_a_turn_paused_during_a_tool_call_is_paused_after_everything_was_restarted(
    doomed_world: World, mortal: TemporalServer
) -> None:
    world = doomed_world
    worker = await world.start_worker()
    turn = await world.submit(call("charge", after="charged"), call("look"), say("{result}"))
    await world.until_ledger("effect", "charge")
    running = await turn.status()
    await turn.pause()
    assert (await turn.status()).status == "pausing"
    worker.kill()
    mortal.kill()
    await mortal.start()
    world.ledger.open("charged")
    await world.start_worker()
    paused = await world.until_status(turn, "paused")
    following = await world.submit(say("the next one"))
    other = await world.submit(say("hello"), thread="other")  # the restarted worker has been at work
    await world.until_status(other, "completed")
    assert [(await t.status()).status for t in (turn, following)] == ["paused", "queued"]
    for stale in (running.revision, paused.revision - 1):
        with pytest.raises(CommandRejected, match="revision"):
            await turn.resume(stale)
    assert (await turn.status()).status == "paused"
    await turn.resume(paused.revision)
    await world.until_status(turn, "completed")
    await world.until_status(following, "completed")
    assert len(set(world.ledger.keys("effect", "charge"))) == 1
