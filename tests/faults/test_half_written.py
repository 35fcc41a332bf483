"""kill -9 in the middle of an append: reads go on from the last whole batch."""

from tests.faults.harness.scripts import call, say
from tests.faults.harness.verify import assert_whole
from tests.faults.harness.world import World

STATEMENTS = {"sqlite": ("append_payload",), "postgres": ("append",)}


async def test_a_worker_killed_in_the_middle_of_an_append_leaves_the_last_whole_batch(world: World) -> None:
    for statement in (*STATEMENTS[world.journal.driver.dialect], "commit"):
        taker = world.prepare_worker()
        victim = await world.start_worker(fault=f"kill@{statement}:3")
        turn = await world.submit(call("look"), say("{result}"), thread=statement)
        await victim.until_ended()
        await assert_whole(world.journal)
        types = await world.types(turn)
        assert types[-2:] == ["input.applied", "model.requested"], "the third append is nowhere"
        assert (await turn.status()).phase == "running"
        assert [message.text for message in (await world.thread(statement).state()).context] == ["please"]
        await world.let_work(taker)
        await world.until_status(turn, "completed")
        assert (await world.transcript(statement))[-1]["text"] == "look done"
        taker.kill()
