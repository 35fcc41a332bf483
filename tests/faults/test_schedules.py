"""Schedules while workers die and Temporal goes: each time is one turn, and Temporal's own one follows the journal."""

from functools import partial

import pytest
from temporalio.client import ScheduleActionStartWorkflow, ScheduleHandle, ScheduleUpdate, ScheduleUpdateInput
from temporalio.service import RPCError, RPCStatusCode

from tests.faults.harness.scripts import say, task
from tests.faults.harness.world import World
from turnwright.journal import schedules
from turnwright.journal.durations import SECOND_US
from turnwright.journal.schedules import Schedule, Tick
from turnwright.journal.transact.schedules import look_elsewhere
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import schedule_id

NAME = "pulse"


@pytest.fixture(autouse=True)
def each_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody waits long for a time to come."""
    monkeypatch.setattr(schedules, "EVERY_S_MIN", 1)


async def begin(world: World, every_s: int = 1) -> Schedule:
    """A schedule in the journal."""
    await world.session.create_schedule(NAME, task(say("hello")), agent="bot", every_s=every_s, overlap="queue")
    return await world.session.schedule(NAME)


async def until_turns(world: World, count: int) -> list[Tick]:
    """Wait until so many ticks had a turn that ended well; the oldest first."""

    async def reached() -> list[Tick] | None:
        ticks = list((await world.session.schedule(NAME)).last)[::-1]
        turns = [tick for tick in ticks if tick.turn_id is not None]
        if len(turns) < count:
            return None
        for tick in turns[:count]:
            view = await world.thread().turn(tick.turn_id or "").status()
            if view.status != "completed":
                return None
        return turns

    return await world.until(reached)


async def until_told(world: World) -> Schedule:
    async def reached() -> Schedule | None:
        schedule = await world.session.schedule(NAME)
        return schedule if schedule.looked_us is not None else None

    return await world.until(reached)


async def in_temporal(world: World, schedule: Schedule) -> ScheduleHandle:
    client = await world.temporal.connect()
    return client.get_schedule_handle(
        schedule_id(await world.journal.journal_id(), schedule.session, schedule.generation)
    )


async def is_gone(handle: ScheduleHandle) -> bool:
    try:
        await handle.describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return True
    return False


async def test_a_schedule_comes_again_and_again_is_held_and_is_no_more(world: World) -> None:
    schedule = await begin(world)
    await world.start_worker()
    first, second, *_ = await until_turns(world, 2)
    assert first.due_us != second.due_us
    assert (await until_told(world)).next_us
    handle = await in_temporal(world, schedule)
    await world.session.pause_schedule(NAME)

    async def held() -> bool:
        return (await handle.describe()).schedule.state.paused

    await world.until(held)
    by_hand = await world.session.trigger_schedule(NAME)
    await world.until_status(world.thread().turn(by_hand.turn_id or ""), "completed")
    await world.session.delete_schedule(NAME)
    await world.until(lambda: is_gone(handle))


@pytest.mark.parametrize("point", ["tick:come", "tick:taken"])
async def test_a_worker_that_dies_at_a_tick_costs_no_turn_and_makes_no_second_one(
    small_world: World, point: str
) -> None:
    world = small_world
    await begin(world, every_s=2)
    victim = await world.start_worker(fault=f"kill@{point}:1")
    await victim.until_ended()
    await world.start_worker()
    ticks = await until_turns(world, 2)
    assert len({tick.due_us for tick in ticks}) == len({tick.turn_id for tick in ticks}) == len(ticks)
    assert len([e for e in await world.entries(world.thread().key) if e.type == "turn.queued"]) >= len(ticks)


async def test_a_temporal_that_was_lost_gets_its_schedules_again_and_what_was_missed_comes_late(
    small_doomed_world: World, mortal: TemporalServer
) -> None:
    world = small_doomed_world
    schedule = await begin(world)
    await world.start_worker()
    before = await until_turns(world, 1)
    mortal.kill()
    mortal.erase()
    await mortal.start()
    handle = await in_temporal(world, schedule)

    async def made_again() -> bool:
        return not await is_gone(handle)

    await world.until(made_again)
    ticks = await until_turns(world, len(before) + 3)
    due_s = [tick.due_us // SECOND_US for tick in ticks]
    assert sorted(due_s) == list(range(min(due_s), min(due_s) + len(due_s))), "none was left out"


async def test_what_was_changed_while_temporal_was_away_is_so_when_it_is_back(
    small_doomed_world: World, mortal: TemporalServer
) -> None:
    world = small_doomed_world
    schedule = await begin(world, every_s=3_600)
    await world.start_worker()
    await until_told(world)
    mortal.kill()
    await world.session.delete_schedule(NAME)
    await world.session.create_schedule("other", "hello", agent="bot", cron="0 9 * * *")
    await mortal.start()
    gone = await in_temporal(world, schedule)
    there = await in_temporal(world, await world.session.schedule("other"))

    async def followed() -> bool:
        return await is_gone(gone) and not await is_gone(there)

    await world.until(followed)


async def test_one_that_somebody_deleted_in_temporal_is_made_again_when_it_is_looked_at(small_world: World) -> None:
    world = small_world
    schedule = await begin(world, every_s=3_600)
    await world.start_worker()
    await until_told(world)
    handle = await in_temporal(world, schedule)
    await handle.delete()
    await world.session.pause_schedule(NAME)

    async def made_again() -> bool:
        return not await is_gone(handle) and (await handle.describe()).schedule.state.paused

    await world.until(made_again)


def moved_away(given: ScheduleUpdateInput) -> ScheduleUpdate:
    schedule = given.description.schedule
    assert isinstance(schedule.action, ScheduleActionStartWorkflow)
    schedule.action.task_queue = "nobody-works-there"
    return ScheduleUpdate(schedule)


async def test_one_that_was_edited_in_temporal_comes_as_the_journal_says_and_what_it_missed_comes_late(
    small_world: World,
) -> None:
    world = small_world
    schedule = await begin(world)
    await world.start_worker()
    before = await until_turns(world, 1)
    first_s = before[0].due_us // SECOND_US
    handle = await in_temporal(world, schedule)
    await handle.update(moved_away)
    began = (await handle.describe()).info.num_actions

    async def began_in_vain() -> bool:
        return (await handle.describe()).info.num_actions > began

    await world.until(began_in_vain)
    await world.journal.driver.write(partial(look_elsewhere, ""))  # now, and not in some seconds

    async def none_is_left_out() -> bool:
        ticks = (await world.session.schedule(NAME)).last
        due_s = sorted(tick.due_us // SECOND_US for tick in ticks if tick.turn_id is not None)
        return len(due_s) > len(before) + 3 and due_s == list(range(first_s, due_s[-1] + 1))

    await world.until(none_is_left_out)
