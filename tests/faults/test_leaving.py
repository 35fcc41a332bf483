"""SIGTERM in the middle of a turn: the worker ends what it can, hands the rest over, and nothing is redone."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.faults.harness.scripts import call, say
from tests.faults.harness.silence import open_silence
from tests.faults.harness.worker import POLL_S, Worker
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.control import ModelOperation


async def test_a_tool_call_is_ended_by_the_worker_that_leaves_and_the_turn_goes_on_elsewhere(world: World) -> None:
    other = world.prepare_worker()
    leaving = await world.start_worker()
    turn = await world.submit(call("post", after="posted"), call("charge"), say("{result}"))
    await world.until_ledger("effect", "post")
    leaving.terminate()
    await leaving.until_logged("worker_draining")
    await world.let_work(other)
    world.ledger.open("posted")
    await world.until_status(turn, "completed")
    assert await leaving.until_ended() == 0
    types = await world.types(turn)
    assert [types.count(kind) for kind in ("tool.started", "model.requested", "tool.finished")] == [2, 3, 2]
    assert world.ledger.pids("effect", "post") == [leaving.pid]


async def test_what_does_not_end_in_time_is_handed_over_and_counts_as_no_failure(world: World) -> None:
    """An answer that takes hours, and a call that may be repeated under its key: the other worker has both at once."""
    other = world.prepare_worker()
    leaving = await world.start_worker(settings={"drain_timeout_s": 0.2})
    turn = await world.submit(call("charge", after="never"), say("hello"))
    talk = await world.submit(say("a long story", delay_s=3_600, chunk_characters=2), thread="talk")
    await world.until_ledger("effect", "charge")
    await world.until_entry(talk.key, "model.requested")
    leaving.terminate()
    assert await leaving.until_ended() == 0
    await world.let_work(other)
    world.ledger.open("never")
    await world.until_entry(talk.key, "model.requested", 2)
    await world.until_status(turn, "completed")
    [interrupted] = await world.until_entry(talk.key, "model.interrupted")
    assert getattr(interrupted.payload, "reason") == "drained"  # noqa: B009
    first, second = world.ledger.keys("effect", "charge")
    assert first == second
    await talk.cancel()
    await world.until_status(talk, "cancelled")


async def test_a_rolling_restart_of_all_workers_during_a_turn_redoes_nothing(small_world: World) -> None:
    world = small_world
    leaving = await world.start_worker()
    turn = await world.submit(*(call("post", after=f"gate {n}") for n in range(3)), say("{result}"))
    for n in range(3):
        await world.until_ledger("effect", "post", n + 1)
        coming = await world.start_worker()
        leaving.terminate()
        await leaving.until_logged("worker_draining")
        world.ledger.open(f"gate {n}")
        assert await leaving.until_ended() == 0
        leaving = coming
    await world.until_status(turn, "completed")
    types = await world.types(turn)
    assert [types.count(kind) for kind in ("tool.started", "model.requested", "tool.finished")] == [3, 4, 3]
    assert len(world.ledger.keys("effect", "post")) == 3


@pytest.mark.slow
async def test_ten_restarts_within_one_turn_spend_none_of_its_retries(small_world: World) -> None:
    """Five fall into a model call and five into a call of a tool; two failures of the model count, as ever."""
    world = small_world
    hasty = {"drain_timeout_s": 0, "cancel_grace_s": 0}
    working, coming = await world.start_worker(settings=hasty), world.prepare_worker(settings=hasty)
    turn = await world.submit(
        {"fail": "transient", "retry_after_s": 0.05, "times": 2},
        {"silent": "I was about to", "times": 5},
        call("charge", after="charged"),
        say("{result}"),
    )
    for n in range(10):
        await world.until_entry(turn.key, *(("model.requested", n + 3) if n < 5 else ("tool.started", n - 4)))
        leaving, working, coming = working, coming, world.prepare_worker(settings=hasty)
        leaving.terminate()
        assert await leaving.until_ended() == 0
        if n == 4:
            model = await open_model_call(world, turn)
            assert (model.ordinal, model.failures, model.lost) == (7, {"transient": 2}, 0)
        await world.let_work(working)
    world.ledger.open("charged")
    await world.until_status(turn, "completed")
    entries = await world.entries(turn.key)
    assert [getattr(e.payload, "reason", "") for e in entries if e.type == "model.interrupted"] == ["drained"] * 5
    outcomes = [getattr(e.payload, "outcome", "") for e in entries if e.type == "tool.finished"]
    assert outcomes == [*["drained"] * 5, "success"]


@pytest.mark.parametrize("point", ["thread:looked", "turn:claiming", "model:answered", "tool:claimed"])
async def test_between_any_two_steps_it_is_the_next_worker_that_goes_on(small_world: World, point: str) -> None:
    world = small_world
    other = world.prepare_worker()
    leaving = await world.start_worker(fault=f"stop@{point}:1")
    turn = await world.submit(call("post"), say("{result}"))
    await leaving.until_frozen()
    leaving.terminate()
    leaving.thaw()
    assert await leaving.until_ended() == 0
    await world.let_work(other)
    await world.until_status(turn, "completed")
    types = await world.types(turn)
    assert [types.count(kind) for kind in ("model.requested", "tool.started", "tool.finished")] == [2, 1, 1]
    assert len(world.ledger.keys("effect", "post")) == 1


async def test_calls_that_do_not_stop_in_time_are_asked_about_and_hold_nobody(small_world: World) -> None:
    """One waits for something that does not come, one blocks its thread."""
    world = small_world
    leaving = await world.start_worker(settings={"drain_timeout_s": 0.2, "cancel_grace_s": 0.2})
    post = await world.submit(call("post", after="never"), say("{result}"))
    grind = await world.submit(call("grind", seconds=600), say("{result}"), thread="grind")
    await world.until_ledger("effect", "post")
    await world.until_ledger("effect", "grind")
    leaving.terminate()
    assert await leaving.until_ended() == 0
    for turn in (post, grind):
        await world.until_status(turn, "waiting")
        assert (await world.types(turn)).count("tool.started") == 1


async def test_told_twice_it_finishes_all_the_same_and_at_a_second_ctrl_c_it_does_not_wait(small_world: World) -> None:
    world = small_world
    patient, hasty = await world.start_worker(), await world.start_worker()
    patient_turn = await world.submit(call("post", after="posted"), say("{result}"))
    await world.until_ledger("effect", "post")
    if world.ledger.pids("effect", "post") == [hasty.pid]:
        patient, hasty = hasty, patient
    patient.terminate()
    await patient.until_logged("worker_draining")
    patient.terminate()
    await patient.until_logged("leaving_already")
    world.ledger.open("posted")
    assert await patient.until_ended() == 0
    await world.until_status(patient_turn, "completed")
    await world.submit(call("post", after="never"), say("{result}"), thread="hasty")
    await world.until_ledger("effect", "post", 2)
    hasty.interrupt()
    await hasty.until_logged("worker_draining")
    hasty.interrupt()
    assert await hasty.until_ended() == 130


async def test_before_it_is_ready_it_ends_at_once(small_world: World) -> None:
    """While it loads agents, while the store says nothing, and while Temporal says nothing."""
    world = small_world
    loading = world.prepare_worker()
    await until_it_listens(loading)
    loading.terminate()
    assert await loading.until_ended() == 0
    async with open_silence() as silence:
        without_store = world.prepare_worker(url=f"postgresql://somebody@{silence.address}/journal")
        without_temporal = world.prepare_worker(settings={"temporal_address": silence.address})
        for n, worker in enumerate((without_store, without_temporal)):
            world.ledger.open(worker.name)
            await silence.until_called(n + 1)
            worker.terminate()
            assert await worker.until_ended() == 0


async def open_model_call(world: World, turn: Turn) -> ModelOperation:
    """What the journal counts for it."""
    row = await world.journal.thread(turn.key)
    active = None if row is None else row.control.active
    assert active is not None
    assert active.model is not None
    return active.model


async def until_it_listens(worker: Worker) -> None:
    """Wait until the process catches SIGTERM."""
    bit = 1 << (signal.SIGTERM - 1)
    while not bit & int(Path(f"/proc/{worker.pid}/status").read_text().split("SigCgt:")[1].split()[0], 16):
        assert worker.is_running
        await asyncio.sleep(POLL_S)
