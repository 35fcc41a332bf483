"""A worker is stopped (SIGSTOP) past its lease, another takes over, then the first goes on (SIGCONT).

Rule: it can start nothing. What it saw is kept as late or settles what is still open, and the conversation is the
one that would have been without it. On SQLite a process is stopped outside a write transaction: inside one it blocks
every other writer until it goes on or dies, which the guarantees say.
"""

import asyncio
import os
import signal
from pathlib import Path

from tests.faults.harness.scripts import call, say
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.payloads import HEARTBEAT_TIMEOUT_S

LEASE_S = 1.0
SHORT = {"lease_s": LEASE_S, "once_grace_s": 0.0}
ROOM_FOR_ONE = {"max_concurrent_activities": 1}  # it froze busy, so it has not asked Temporal for more already


async def two_workers(world: World, fault: str) -> tuple[Worker, Worker]:
    """One that works and will be stopped, and one that can begin to work at once."""
    living = world.prepare_worker(settings=SHORT)
    return await world.start_worker(fault=fault, settings={**SHORT, **ROOM_FOR_ONE}), living


async def test_a_worker_frozen_before_the_effect_never_has_it_once_others_gave_it_up(world: World) -> None:
    frozen, living = await two_workers(world, "stop@tool:claimed:1")
    turn = await world.submit(call("post"), say("{result}"))
    await frozen.until_frozen()
    await world.until_given_up(turn.key, LEASE_S)  # moments after the lease is over, and not when it suits Temporal
    frozen.thaw()
    await world.let_work(living)
    view = await world.until_status(turn, "waiting")
    assert world.ledger.keys("began", "post") == []
    await turn.reconcile(view.questions[0].call_id or "", "run_again", reason="it is not in the ledger")
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1


async def test_a_result_that_comes_late_settles_the_question_about_it(world: World) -> None:
    frozen, living = await two_workers(world, "stop@tool:ran:1")
    turn = await world.submit(call("post"), say("{result}"))
    await frozen.until_frozen()
    await world.let_work(living)
    await world.until_status(turn, "waiting")
    await world.until_no_workflow()
    frozen.thaw()
    await world.until_status(turn, "completed")
    assert len(world.ledger.keys("effect", "post")) == 1
    types = await world.types(turn)
    assert types.count("tool.started") == 1
    assert "interaction.resolved" in types


async def test_an_answer_that_comes_after_another_is_kept_as_late_and_changes_nothing(small_world: World) -> None:
    world = small_world
    frozen, living = await two_workers(world, "stop@model:answered:2")
    turn = await world.submit(call("look"), say("{result}"))
    await frozen.until_frozen()
    await world.let_work(living)
    await world.until_status(turn, "completed")
    before = await world.transcript()
    frozen.thaw()
    await world.until_entry(turn.key, "model.late")
    assert await world.transcript() == before
    assert (await world.types(turn)).count("model.responded") == 2
    usage = (await world.thread().state()).usage
    assert usage.total.requests == 3, "what the late answer cost is counted"


async def test_a_worker_frozen_while_it_claims_a_turn_does_not_fence_the_living_one_out(world: World) -> None:
    frozen, living = await two_workers(world, "stop@turn:claiming:1")
    turn = await world.submit(call("look", after="looked"), say("{result}"))
    await frozen.until_frozen()
    await world.let_work(living)
    await world.until_ledger("effect", "look")
    epoch = (await world.thread().status()).control.epoch
    frozen.thaw()
    other = await world.submit(say("hello"), thread="other")
    await world.until_status(other, "completed")
    world.ledger.open("looked")
    await world.until_status(turn, "completed")
    assert (await world.thread().status()).control.epoch == epoch
    assert world.ledger.pids("effect", "look") == [living.pid]


async def test_a_worker_frozen_before_its_first_claim_of_an_operation_starts_nothing_later(small_world: World) -> None:
    world = small_world
    frozen, living = await two_workers(world, "stop@tool:begun:1")
    turn = await world.submit(call("post", after="posted"), say("{result}"))
    await frozen.until_frozen()
    await world.let_work(living)
    await world.until_ledger("effect", "post")
    frozen.thaw()
    other = await world.submit(say("hello"), thread="other")
    await world.until_status(other, "completed")
    world.ledger.open("posted")
    await world.until_status(turn, "completed")
    assert world.ledger.pids("effect", "post") == [living.pid]
    assert (await world.types(turn)).count("tool.started") == 1


async def test_a_worker_frozen_inside_a_transaction_holds_nobody_up_for_long_on_a_server(
    postgres_url: str, tmp_path: Path, temporal: TemporalServer
) -> None:
    """It holds the thread's row; the server ends its session, and what it had begun is as if never begun."""
    async with World.open(postgres_url, tmp_path, temporal) as world:
        frozen, living = await two_workers(world, "stop@commit:2")
        turn = await world.submit(call("post"), say("{result}"))
        await frozen.until_frozen()
        assert (await world.types(turn))[-1] == "run.claimed"
        await world.let_work(living)
        await world.until_status(turn, "completed")
        before = await world.transcript()
        frozen.thaw()
        other = await world.submit(say("hello"), thread="other")
        await world.until_status(other, "completed")
        assert await world.transcript() == before
        assert world.ledger.pids("effect", "post") == [living.pid]


async def test_a_frozen_temporal_costs_time_and_doubles_nothing(
    small_doomed_world: World, mortal: TemporalServer
) -> None:
    """When it goes on, it takes the running call for dead and gives it out again, while it still runs."""
    world = small_doomed_world
    await world.start_worker()
    turn = await world.submit(call("post", after="posted"), call("charge"), say("{result}"))
    await world.until_ledger("effect", "post")
    os.kill(mortal.pid, signal.SIGSTOP)
    await asyncio.sleep(HEARTBEAT_TIMEOUT_S + 2)
    os.kill(mortal.pid, signal.SIGCONT)
    other = await world.submit(say("hello"), thread="other")
    await world.until_status(other, "completed")
    world.ledger.open("posted")
    await world.until_status(turn, "completed")
    assert [len(world.ledger.keys("effect", tool)) for tool in ("post", "charge")] == [1, 1]
    assert (await world.types(turn)).count("tool.started") == 2
