"""Temporal is killed: it goes on with what it has in its file, and when that was deleted while turns were queued,
running, paused and waiting, a fresh one goes on with all.
"""

from dataclasses import dataclass

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.worker.temporal_server import TemporalServer


@dataclass(frozen=True)
class Turns:
    """One in each state."""

    running: Turn
    queued: Turn
    paused: Turn
    waiting: Turn


async def in_every_state(world: World) -> Turns:
    """Turns in these states, and one worker, which runs the first."""
    taker = world.prepare_worker()
    victim = await world.start_worker(fault="kill@tool:ran:1")
    waiting = await world.submit(call("post"), say("{result}"), thread="waiting")
    await victim.until_ended()
    await world.let_work(taker)
    await world.until_status(waiting, "waiting")
    paused = await world.submit(call("look", before="paused"), say("{result}"), thread="paused")
    running = await world.submit(call("charge", after="running"), call("look"), say("{result}"), thread="running")
    queued = await world.submit(say("hello"), thread="running")
    await world.until_ledger("began", "look")
    await world.until_ledger("effect", "charge")
    await paused.pause()
    world.ledger.open("paused")
    await world.until_status(paused, "paused")
    await world.until_status(queued, "queued")
    return Turns(running, queued, paused, waiting)


async def forget_everything(temporal: TemporalServer) -> None:
    temporal.kill()
    temporal.erase()
    await temporal.start()


async def goes_on_with_all(world: World, turns: Turns) -> None:
    await world.until_status(turns.running, "completed")
    await world.until_status(turns.queued, "completed")
    assert [(await turn.status()).status for turn in (turns.paused, turns.waiting)] == ["paused", "waiting"]
    await turns.paused.resume()
    await world.until_status(turns.paused, "completed")
    [question] = (await turns.waiting.status()).questions
    await turns.waiting.reconcile(question.call_id or "", "succeeded", "found", reason="I looked")
    await world.until_status(turns.waiting, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1


async def test_a_fresh_temporal_goes_on_with_everything_a_living_worker_had(
    doomed_world: World, mortal: TemporalServer
) -> None:
    turns = await in_every_state(doomed_world)
    await forget_everything(mortal)
    doomed_world.ledger.open("running")
    await goes_on_with_all(doomed_world, turns)
    assert len(doomed_world.ledger.keys("effect", "charge")) == 1, "the call went on while Temporal was gone"


@pytest.mark.slow
async def test_a_fresh_temporal_and_a_fresh_worker_go_on_with_everything(
    doomed_world: World, mortal: TemporalServer
) -> None:
    turns = await in_every_state(doomed_world)
    for worker in doomed_world.workers:
        worker.kill()
    await forget_everything(mortal)
    doomed_world.ledger.open("running")
    await doomed_world.start_worker()
    await goes_on_with_all(doomed_world, turns)
    assert len(set(doomed_world.ledger.keys("effect", "charge"))) == 1


async def test_a_turn_outlives_a_temporal_that_is_killed_and_comes_back_as_it_was(
    small_doomed_world: World, mortal: TemporalServer
) -> None:
    world = small_doomed_world
    await world.start_worker()
    turn = await world.submit(call("post", before="down", after="up"), call("charge"), say("{result}"))
    await world.until_ledger("began", "post")
    mortal.kill()
    world.ledger.open("down")
    await world.until_ledger("effect", "post")
    await mortal.start()
    world.ledger.open("up")
    await world.until_status(turn, "completed")
    assert [len(world.ledger.keys("effect", tool)) for tool in ("post", "charge")] == [1, 1]
    assert len(await world.runs_of(turn)) == 1, "its run went on"
