"""An agent that a worker does not know is no failure: the turn waits for a worker that does."""

from pathlib import Path

from tests.integration.runtime.agents import BOT
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.restless import RestlessTurn
from tests.integration.runtime.scripts import call, say
from turnwright.activities.agent import Agent
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow

STRANGER = Agent("stranger", "scripted:test")


async def test_a_turn_of_an_agent_nobody_knows_waits_and_runs_where_it_is_known(cluster: Cluster) -> None:
    await cluster.start_worker(agents=[STRANGER])
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))

    async def waits() -> bool:
        described = await turn.handle.describe()
        return any(pending.attempt > 2 for pending in described.raw_description.pending_activities)

    await cluster.until_started(turn)
    await cluster.until(waits)
    assert (await turn.status()).phase == "queued"
    knowing = await cluster.start_worker(agents=[BOT])
    await turn.until("completed")
    assert {e.payload.presence for e in await turn.of_type("tool.started")} == {knowing.name}  # type: ignore[attr-defined]


async def test_a_turn_that_waits_for_its_agent_for_long_keeps_a_short_history(small_cluster: Cluster) -> None:
    workflows = [SessionWorkflow, ThreadWorkflow, RestlessTurn]
    await small_cluster.start_worker(agents=[STRANGER], workflows=workflows)
    turn = await small_cluster.submit(say("done"))
    await small_cluster.until_started(turn)
    first = (await turn.handle.describe()).run_id

    async def another_run() -> bool:
        await turn.handle.signal("wake")
        return (await turn.handle.describe()).run_id != first

    await small_cluster.until(another_run)
    assert (await turn.status()).phase == "queued"
    await small_cluster.start_worker(agents=[BOT], workflows=workflows)
    await turn.until("completed")


async def test_a_turn_that_waits_for_its_agent_can_be_cancelled_and_the_thread_goes_on(cluster: Cluster) -> None:
    await cluster.start_worker(agents=[STRANGER])
    turn = await cluster.submit(say("never"))
    await cluster.until_started(turn)
    await turn.handle.signal("cancel")
    await turn.until("cancelled")
    await turn.until_parked()
    await cluster.start_worker(agents=[BOT])
    following = await cluster.submit(say("done"))
    await following.until("completed")


async def test_a_tool_this_worker_does_not_have_is_left_to_one_that_has_it(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=[BOT])
    gate = tmp_path / "gate"
    look = call("look", log=str(tmp_path / "log"), wait_for=str(gate))
    turn = await cluster.submit(look, call("add", a=1, b=1), say("done"))
    await cluster.until_trace(tmp_path / "log", "started")
    await cluster.start_worker(agents=[Agent("bot", "scripted:test")])
    gate.touch()
    await turn.until("completed")
    outcomes = [entry.payload.outcome for entry in await turn.of_type("tool.finished")]  # type: ignore[attr-defined]
    assert outcomes == ["success", "success"]
