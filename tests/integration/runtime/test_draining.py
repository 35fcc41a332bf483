"""A worker is told to end: what runs there is handed over, and what cannot be is said."""

from dataclasses import replace
from pathlib import Path

from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from tests.integration.runtime.workers import SETTINGS


async def test_a_model_call_is_handed_over_and_answered_elsewhere(cluster: Cluster) -> None:
    leaving = await cluster.start_worker()
    turn = await cluster.submit({"silent": "I was about to", "times": 1}, say("Here it is."))
    await turn.until_entry("model.requested")
    staying = await cluster.start_worker()
    await leaving.stop()
    await turn.until("completed")
    (handed_over,) = await turn.of_type("model.interrupted")
    assert handed_over.payload.reason == "drained"  # type: ignore[attr-defined]
    assert (await turn.of_type("model.requested"))[-1].payload.presence == staying.name  # type: ignore[attr-defined]
    state = await cluster.journal.state(turn.key)
    assert [message.text for message in state.context if message.role == "assistant"] == ["Here it is."]


async def test_a_call_that_ends_in_time_is_not_made_again(cluster: Cluster, tmp_path: Path) -> None:
    leaving = await cluster.start_worker(settings=replace(SETTINGS, drain_s=30.0))
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("send", log=str(log), wait_for=str(gate)), say("sent"))
    await cluster.until_trace(log, "started")
    await cluster.start_worker()
    stopping = leaving.stopping()
    gate.touch()
    await turn.until("completed")
    await stopping
    assert log.read_text().count("started") == 1


async def test_a_call_that_may_be_repeated_is_repeated_elsewhere(small_cluster: Cluster, tmp_path: Path) -> None:
    leaving = await small_cluster.start_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await small_cluster.submit(call("charge", log=str(log), wait_for=str(gate)), say("paid"))
    await small_cluster.until_trace(log, "started")
    await small_cluster.start_worker()
    await leaving.stop()
    gate.touch()
    await turn.until("completed")
    assert [e.payload.outcome for e in await turn.of_type("tool.finished")] == ["drained", "success"]  # type: ignore[attr-defined]


async def test_a_call_that_may_not_be_repeated_waits_for_somebody_who_knows(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    leaving = await small_cluster.start_worker()
    log = tmp_path / "log"
    turn = await small_cluster.submit(call("send", log=str(log), wait_for=str(tmp_path / "never")), say("sent"))
    await small_cluster.until_trace(log, "started")
    await small_cluster.start_worker()
    await leaving.stop()
    await turn.until("waiting")
    assert log.read_text().count("started") == 1
