"""Pausing: it takes effect at a boundary, holds without any run, and a resume goes on in a new one."""

from pathlib import Path

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import call, say
from turnwright.journal.commands import PauseSession, PauseThread, ResumeSession, ResumeThread, ResumeTurn


async def runs(turn: Turn) -> int:
    return len(await turn.of_type("run.claimed"))


async def test_a_pause_during_a_model_call_takes_effect_after_it_and_a_resume_goes_on(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("It is {result}."))
    await turn.until_entry("model.requested")
    assert (await turn.pause()).status == "accepted"
    assert (await turn.status()).pause == "requested"
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    assert "tool.started" not in await turn.types()
    assert (await turn.resume()).status == "accepted"
    await turn.until("completed")
    assert await runs(turn) == 2


async def test_a_pause_during_a_tool_call_takes_effect_after_it(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("send", log=str(log), wait_for=str(gate)), say("sent"))
    await cluster.until_trace(log, "started")
    await turn.pause()
    gate.touch()
    await turn.until_pause("effective")
    await turn.until_parked()
    assert (await turn.types())[-2:] == ["tool.finished", "turn.paused"]
    await turn.resume()
    await turn.until("completed")
    assert log.read_text().count("started") == 1


async def test_a_pause_during_the_call_that_ends_the_turn_leaves_it_completed(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(say("the end"))
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow()
    assert (await turn.until("completed")).pause == "none"


async def test_a_pause_that_is_withdrawn_before_it_took_effect_interrupts_nothing(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.pause()
    await turn.resume()
    models.allow(2)
    await turn.until("completed")
    assert await runs(turn) == 1


async def test_pause_resume_and_pause_within_one_step_are_all_recorded_and_the_last_counts(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    for wanted in (turn.pause, turn.resume, turn.pause):
        assert (await wanted()).status == "accepted"
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    changes = [name for name in await turn.types() if name.startswith(("turn.pause", "turn.resume"))]
    assert changes == ["turn.pause_requested", "turn.resumed", "turn.pause_requested", "turn.paused"]
    await turn.resume()
    await turn.until("completed")


async def test_a_paused_turn_stays_paused_over_wakes_and_new_workers(small_cluster: Cluster, tmp_path: Path) -> None:
    first = await small_cluster.spawn_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await small_cluster.submit(call("look", log=str(log), wait_for=str(gate)), say("done"))
    await small_cluster.until_trace(log, "started")
    await turn.pause()
    gate.touch()
    await turn.until_pause("effective")
    first.kill()
    await small_cluster.start_worker()
    for _ in range(2):
        await small_cluster.waker.thread(turn.key)
        await small_cluster.until_idle(turn.key)
    before = await turn.types()
    assert (await turn.status()).pause == "effective"
    stale = await turn.command(ResumeTurn, revision=1)
    assert (stale.status, stale.code) == ("rejected", "stale_revision")
    assert await turn.types() == before
    await turn.resume()
    await turn.until("completed")


async def test_a_paused_queued_turn_blocks_the_queue_until_it_is_resumed(cluster: Cluster) -> None:
    turn = await cluster.submit(say("first"), wake=False)
    following = await cluster.submit(say("second"), wake=False)
    await turn.pause(wake=False)
    await cluster.start_worker()
    await cluster.waker.thread(turn.key)
    await cluster.until_idle(turn.key)
    assert ((await turn.status()).phase, (await following.status()).phase) == ("queued", "queued")
    await turn.resume()
    await turn.until("completed")
    await following.until("completed")


async def test_a_paused_thread_starts_nothing_and_goes_on_when_resumed(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    following = await cluster.submit(say("next"))
    await turn.until_entry("model.requested")
    paused = await cluster.execute(turn.key, PauseThread(request_id="p"))
    models.allow(3)
    await turn.until_parked()
    assert "tool.started" not in await turn.types()
    assert (await turn.status()).pause == "none"
    await cluster.execute(turn.key, ResumeThread(request_id="r", revision=paused.revision))
    await turn.until("completed")
    await following.until("completed")


async def test_a_paused_session_holds_every_thread_and_a_resume_releases_all(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turns = [await cluster.submit(call("add", a=1, b=2), say("done"), thread=f"t{n}") for n in range(3)]
    for turn in turns:
        await turn.until_entry("model.requested")
    session = turns[0].key.session_key
    paused = await cluster.execute(session, PauseSession(request_id="p"))
    models.allow(6)
    for turn in turns:
        await turn.until_parked()
        assert "tool.started" not in await turn.types()
    await cluster.execute(session, ResumeSession(request_id="r", revision=paused.revision))
    for turn in turns:
        await turn.until("completed")


async def test_resuming_one_level_starts_nothing_while_another_is_paused(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.pause()
    thread = await cluster.execute(turn.key, PauseThread(request_id="p"))
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    await turn.resume()
    await cluster.until_idle(turn.key)
    await turn.until_parked()
    assert "tool.started" not in await turn.types()
    await cluster.execute(turn.key, ResumeThread(request_id="r", revision=thread.revision))
    await turn.until("completed")
