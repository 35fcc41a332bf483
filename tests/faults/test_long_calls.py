"""A call may take longer than any lease: as long as its worker moves, nobody repeats it."""

from tests.faults.harness.scripts import say
from tests.faults.harness.world import World

LEASE_S = 1.0
CALL_S = 6.5
SHORT = {"lease_s": LEASE_S, "once_grace_s": 0.5}


async def test_calls_longer_than_every_lease_are_carried_out_once(world: World) -> None:
    """An async body, one that blocks its thread, one that keeps the interpreter busy, and a slow model."""
    for _ in range(2):
        await world.start_worker(settings=SHORT)
    tools = ("toil", "grind", "plod")
    calls = {"call": [{"name": tool, "arguments": {"seconds": CALL_S}} for tool in tools]}
    turn = await world.submit(calls, say("{result}"))
    talk = await world.submit(say("a slow answer", delay_s=CALL_S, chunk_characters=1_000), thread="talk")
    await world.until_status(turn, "completed")
    await world.until_status(talk, "completed")
    for tool in tools:
        assert len(world.ledger.keys("effect", tool)) == 1
    counted = ("run.claimed", "model.requested", "tool.started")
    assert [(await world.types(turn)).count(kind) for kind in counted] == [1, 2, 3]
    assert [(await world.types(talk)).count(kind) for kind in counted] == [1, 1, 0]
