"""Without a workflow cache each task replays its run from the beginning, so whatever differs then is found.

All tests of this folder run so with TURNWRIGHT_WORKFLOW_CACHE=off; these always do.
"""

from pathlib import Path

from tests.integration.runtime.agents import BOT
from tests.integration.runtime.bug import Bug
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, calls, say
from turnwright.activities.agent import Agent


async def test_a_conversation_with_everything_in_it_survives_forced_replay(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    await small_cluster.start_worker(cached=0)
    log, gate = tmp_path / "log", tmp_path / "gate"
    look = ("look", {"log": str(log), "wait_for": str(gate)})
    turn = await small_cluster.submit(
        calls(look, ("add", {"a": 1, "b": 2})),
        {"fail": "cut", "times": 1},
        call("add", a=3, b=4),
        say("It is {result}."),
        say("As you say."),
    )
    following = await small_cluster.submit(say("next"))
    await small_cluster.until_trace(log, "started")
    await turn.steer("be quick")
    await turn.handle.signal("pause", args=["now", 1])
    await turn.until_pause("requested")
    await turn.handle.signal("frobnicate")
    gate.touch()
    await turn.until_pause("effective")
    await turn.until_parked()
    await turn.resume()
    await turn.until("completed")
    await following.until("completed")
    assert len(await turn.of_type("tool.started")) == 3
    assert len(await turn.of_type("run.claimed")) == 2


async def test_cancelling_survives_forced_replay(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(cached=0)
    for cancelled_by in ("command", "temporal"):
        turn = await small_cluster.submit({"silent": "hm"})
        await turn.until_entry("model.requested")
        await (turn.cancel() if cancelled_by == "command" else turn.handle.cancel())
        await turn.until("cancelled")


async def test_runs_that_break_and_continue_as_new_survive_forced_replay(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(cached=0, boundary=Bug("model:claimed", times=2))
    turn = await small_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")
    assert len(await turn.of_type("run.claimed")) > 1


async def test_waiting_for_an_agent_survives_forced_replay(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(cached=0, agents=[Agent("stranger", "scripted:test")])
    turn = await small_cluster.submit(say("done"))
    await small_cluster.until_started(turn)
    await turn.handle.signal("wake")
    await small_cluster.start_worker(cached=0, agents=[BOT])
    await turn.until("completed")
