"""A worker with room for one operation only: what it was told to give up makes room at once."""

from tests.faults.harness.world import World


async def test_cancelled_turns_make_room_for_those_that_wait(small_world: World) -> None:
    world = small_world
    await world.start_worker(settings={"max_concurrent_activities": 1})
    turns = [await world.submit({"silent": True}, thread=f"t{n}") for n in range(6)]
    for _ in turns:
        asked = await world.until(lambda: whose_model_is_asked(world))
        assert len(asked) == 1, "there is room for one"
        turn = next(turn for turn in turns if turn.key.thread == asked[0])
        await turn.cancel()
        await world.until_status(turn, "cancelled")


async def whose_model_is_asked(world: World) -> list[str]:
    """The threads that wait for a model at the moment."""
    active = (await world.client.turns(world.session, phases=("running",))).items
    controls = [(await world.thread(item.key.thread).status()).control for item in active]
    return [i.key.thread for i, c in zip(active, controls, strict=True) if c.active is not None and c.active.busy]
