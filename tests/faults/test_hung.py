"""A worker that hangs without dying: a tool that does not await keeps its whole event loop, its beats too, from moving,
while the process goes on taking tasks from Temporal that it does nothing about.
"""

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World

LEASE_S = 1.0
SHORT = {"lease_s": LEASE_S, "once_grace_s": 0.0}


async def test_a_worker_whose_loop_a_tool_blocks_is_taken_over_doubles_nothing_and_names_the_tool(
    small_world: World,
) -> None:
    world = small_world
    other = world.prepare_worker(settings=SHORT)
    hung = await world.start_worker(settings=SHORT)
    turn = await world.submit(call("stall", until="let go"), call("post"), say("{result}"))
    await world.until_ledger("effect", "stall")
    await world.let_work(other)
    view = await world.until_status(turn, "waiting")
    assert [question.kind for question in view.questions] == ["unknown_outcome"]
    await world.until_status(await world.submit(say("hello"), thread="other"), "completed")
    assert "in stall" in str([said["at"] for said in hung.logged("event_loop_blocked")])
    world.ledger.open("let go")
    await world.until_status(turn, "completed")
    assert [len(world.ledger.keys("effect", tool)) for tool in ("stall", "post")] == [1, 1]
    assert (await world.types(turn)).count("tool.started") == 2
