"""Commands that nobody heard: they are in the journal, and whoever looks next carries them out."""

from pathlib import Path

from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import call, say
from turnwright.journal.commands import CancelThread, PauseSession, PauseThread, ResumeSession, ResumeThread


async def test_everything_that_was_asked_for_while_no_worker_ran_is_done_when_one_comes(cluster: Cluster) -> None:
    first = await cluster.submit(say("one"), wake=False)
    doomed = await cluster.submit(say("two"), wake=False)
    paused = await cluster.submit(say("three"), wake=False)
    await first.steer("and be brief", wake=False)
    await doomed.cancel(wake=False)
    await paused.pause(wake=False)
    await paused.resume(wake=False)
    await cluster.start_worker()
    await cluster.waker.thread(first.key)
    await first.until("completed")
    await paused.until("completed")
    assert (await doomed.status()).phase == "cancelled"
    state = await cluster.journal.state(first.key)
    asked = [message.text for message in state.context if message.role == "user"]
    assert asked == ["please", "and be brief", "please"]


async def test_a_turn_whose_submitter_died_before_waking_anybody_runs_with_the_next_wake(cluster: Cluster) -> None:
    await cluster.start_worker()
    orphan = await cluster.submit(say("first"), wake=False)
    following = await cluster.submit(say("second"))
    await orphan.until("completed")
    await following.until("completed")


async def test_a_cancel_while_every_worker_is_dead_is_done_when_one_returns(cluster: Cluster, tmp_path: Path) -> None:
    only = await cluster.spawn_worker()
    log = tmp_path / "log"
    turn = await cluster.submit(call("look", log=str(log), wait_for=str(tmp_path / "never")), say("never"))
    following = await cluster.submit(say("next"))
    await cluster.until_trace(log, "started")
    only.kill()
    assert (await turn.cancel()).status == "accepted"
    await cluster.start_worker()
    await turn.until("cancelled", nudging=True)
    await following.until("completed", nudging=True)
    assert log.read_text().count("started") == 1


async def test_a_pause_nobody_was_told_of_takes_effect_at_the_next_boundary(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.pause(wake=False)
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    assert "tool.started" not in await turn.types()
    await turn.resume(wake=False)
    await turn.until("completed", nudging=True)


async def test_a_pause_of_thread_and_session_nobody_was_told_of_holds_the_next_operation(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    thread = await cluster.execute(turn.key, PauseThread(request_id="p"), wake=False)
    session = await cluster.execute(turn.key.session_key, PauseSession(request_id="p"), wake=False)
    models.allow(2)
    await turn.until_parked()
    assert "tool.started" not in await turn.types()
    resume = ResumeSession(request_id="r", revision=session.revision)
    await cluster.execute(turn.key.session_key, resume, wake=False)
    await cluster.execute(turn.key, ResumeThread(request_id="r", revision=thread.revision), wake=False)
    await turn.until("completed", nudging=True)


async def test_a_cancel_of_a_thread_nobody_was_told_of_stops_its_running_tool(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log = tmp_path / "log"
    turn = await cluster.submit(call("charge", log=str(log), wait_for=str(tmp_path / "never")), say("never"))
    queued = await cluster.submit(say("never"))
    await cluster.until_trace(log, "started")
    await cluster.execute(turn.key, CancelThread(request_id="c"), wake=False)
    assert (await queued.status()).phase == "cancelled"
    await turn.until("cancelled")


async def test_a_turn_that_fails_or_ends_lets_the_next_one_run_though_nobody_wakes_the_thread(
    cluster: Cluster,
) -> None:
    await cluster.start_worker()
    turns = [await cluster.submit(*steps, wake=False) for steps in ([say("a")], [{"fail": "invalid"}], [say("c")])]
    await cluster.waker.thread(turns[0].key)
    await turns[0].until("completed")
    await turns[1].until("failed")
    await turns[2].until("completed")
