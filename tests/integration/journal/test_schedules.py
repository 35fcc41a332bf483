"""What the stores keep of schedules: it follows the log, says what became of each tick, and ends with the session."""

from dataclasses import replace
from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql, Stored
from turnwright.journal import store_schedules
from turnwright.journal.commands import (
    CloseSession,
    CreateSchedule,
    CreateSession,
    DeleteSchedule,
    DeleteSession,
    EraseEntry,
    PauseSchedule,
    TriggerSchedule,
)
from turnwright.journal.driver import Driver
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey
from turnwright.journal.messages import user
from turnwright.journal.schedules import Definition, Overlap, Schedule, Times
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact import schedules
from turnwright.journal.transact.rows import clock
from turnwright.journal.transact.schedules import DueSchedule

NEWS = Definition(name="news", agent=KEY.agent, input=user("the news"), times=Times(every_s=60))
FAR_US = 2**60
DELETE = DeleteSession(request_id="delete", principal="ann", reason="asked for")


async def created(played: Played, name: str = "news", overlap: Overlap = "skip") -> Schedule:
    await played.journal.execute(SESSION, CreateSession(request_id="create"))
    given = NEWS.model_copy(update={"name": name, "overlap": overlap})
    await played.execute(SESSION, CreateSchedule(request_id=f"create {name}", principal="ann", definition=given))
    return await seen(played.journal, name)


async def seen(journal: Journal, name: str = "news") -> Schedule:
    found = await store_schedules.find_schedule(journal, SESSION, name)
    assert found is not None
    return found


async def due(driver: Driver) -> list[DueSchedule]:
    return await driver.read(partial(schedules.find_due, await driver.read(clock), 10))


async def now_us(journal: Journal) -> int:
    """The second that it is."""
    return (await journal.driver.read(clock)) // SECOND_US * SECOND_US


async def take(journal: Journal, schedule: Schedule, due_us: int | None = None) -> str | None:
    """Take the tick of a time (None: now); its turn."""
    due_us = due_us or await now_us(journal)
    taken = await store_schedules.take_tick(journal, SESSION, schedule.name, schedule.generation, due_us)
    return None if taken is None or taken[1].status == "rejected" else taken[1].turn_id


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def test_a_schedule_is_told_and_temporal_is_to_be_told_of_it(played: Played, driver: Driver) -> None:
    schedule = await created(played)
    assert (schedule.state, schedule.principal, schedule.definition) == ("active", "ann", NEWS)
    assert (schedule.next_us, schedule.looked_us) == ((), None)
    [first] = await due(driver)
    now_us = await driver.read(clock)
    soon_us = (now_us - 1, now_us + 10**9)
    await driver.write(partial(schedules.note_told, first, "here", soon_us, now_us, FAR_US))
    assert ((await seen(played.journal)).next_us, await due(driver)) == (soon_us[1:], [])
    await played.execute(SESSION, PauseSchedule(request_id="pause", name="news"))
    [again] = await due(driver)
    assert (again.state, again.applied_to, (await seen(played.journal)).next_us) == ("paused", "here", ())
    await driver.write(partial(schedules.note_told, first, "here", soon_us, now_us, FAR_US))  # of before
    assert await due(driver) == [again]


async def test_a_temporal_that_is_another_one_is_told_of_everything(played: Played, driver: Driver) -> None:
    await created(played)
    [first] = await due(driver)
    await driver.write(partial(schedules.note_told, first, "here", (), 1, FAR_US))
    await driver.write(partial(schedules.look_elsewhere, "here"))
    assert await due(driver) == []
    await driver.write(partial(schedules.look_elsewhere, "there"))
    assert [one.name for one in await due(driver)] == ["news"]


async def test_a_tick_is_one_turn_however_often_it_is_taken_and_its_schedule_tells_it(played: Played) -> None:
    schedule = await created(played)
    turn = await take(played.journal, schedule)
    due_us = (await seen(played.journal)).last[0].due_us
    again = await store_schedules.take_tick(played.journal, SESSION, "news", schedule.generation, due_us)
    assert again is not None
    assert (again[1].turn_id, again[1].duplicate) == (turn, True)
    assert await take(played.journal, schedule, due_us - SECOND_US) is None
    busy, done = (await seen(played.journal)).last
    assert (done.turn_id, done.code, done.by_hand) == (turn, None, False)
    assert (busy.turn_id, busy.code) == (None, "busy")
    assert await proven(played.journal)


async def test_what_was_skipped_stays_so_however_often_it_is_asked_again(played: Played) -> None:
    schedule = await created(played)
    await played.submit("first")
    due_us = await now_us(played.journal)
    command = partial(store_schedules.take_tick, played.journal, SESSION, "news", schedule.generation, due_us)
    for duplicate in (False, True):
        taken = await command()
        assert taken is not None
        assert (taken[1].code, taken[1].duplicate) == ("busy", duplicate)


async def test_somebody_triggers_it_and_is_told_the_turn_or_why_there_is_none(played: Played) -> None:
    await created(played)
    trigger = TriggerSchedule(request_id="now", principal="bea", name="news")
    receipt = await played.execute(SESSION, trigger)
    assert receipt.turn_id is not None
    assert (await played.journal.execute(SESSION, trigger)).duplicate
    refused = await played.execute(SESSION, TriggerSchedule(request_id="again", name="news"))
    assert (refused.turn_id, refused.code) == (None, "busy")
    assert [tick.by_hand for tick in (await seen(played.journal)).last] == [True, True]
    unknown = await played.journal.execute(SESSION, TriggerSchedule(request_id="r", name="none"))
    nowhere = await played.journal.execute(SessionKey("t", None, "none"), TriggerSchedule(request_id="r", name="none"))
    assert [unknown.code, nowhere.code] == ["unknown_schedule", "unknown_session"]


async def test_a_repeated_trigger_is_answered_as_before_though_its_schedule_is_no_more(played: Played) -> None:
    made = await created(played)
    trigger = TriggerSchedule(request_id="now", principal="bea", name="news")
    busy = replace(trigger, request_id="again")
    first, second = await played.execute(SESSION, trigger), await played.execute(SESSION, busy)
    assert (first.code, second.code) == (None, "busy")
    await played.execute(SESSION.log, EraseEntry(request_id="erase", seq=made.generation))
    await played.execute(SESSION, DeleteSchedule(request_id="delete", name="news"))
    elsewhere = NEWS.model_copy(update={"thread": "side"})
    for another_has_its_name in (False, True):
        if another_has_its_name:
            await played.execute(SESSION, CreateSchedule(request_id="create again", definition=elsewhere))
        for command, receipt in ((trigger, first), (busy, second)):
            assert await played.journal.execute(SESSION, command) == replace(receipt, duplicate=True)
    assert len(await played.journal.entries(KEY)) == first.seq + 1, "neither was taken twice"
    other = await played.journal.execute(SESSION, replace(trigger, name="olds"))
    assert other.code == "unknown_schedule"
    assert await proven(played.journal)


async def test_a_trigger_by_hand_does_not_count_as_caught_up(played: Played, driver: Driver) -> None:
    schedule = await created(played, overlap="queue")
    [told] = await due(driver)
    await driver.write(partial(schedules.note_told, told, "here", (), 1, 1))
    await take(played.journal, schedule)
    [by_clock] = (await seen(played.journal)).last
    await played.execute(SESSION, TriggerSchedule(request_id="now", name="news"))
    [now] = await due(driver)
    since_us = await driver.read(partial(schedules.missed_since_us, now, 0))
    assert since_us == max(by_clock.due_us, now.changed_us)
    assert since_us < (await seen(played.journal)).last[0].due_us


async def test_only_the_newest_ticks_are_kept(played: Played, sql: Sql) -> None:
    schedule = await created(played, overlap="queue")
    newest_us = await now_us(played.journal)
    for n in range(schedules.TICKS_KEPT_MAX + 3):
        await take(played.journal, schedule, newest_us - n * SECOND_US)
    assert await sql("SELECT count(*) FROM ticks") == [(schedules.TICKS_KEPT_MAX,)]
    [listed] = await store_schedules.list_schedules(played.journal, SESSION) or ()
    assert listed.last == (await seen(played.journal)).last[: schedules.TICKS_LISTED]


@pytest.mark.parametrize("how", ["closed", "deleted"])
async def test_a_session_that_ends_ends_its_schedules_and_temporal_is_to_be_told(
    played: Played, driver: Driver, stored: Stored, how: str
) -> None:
    schedule = await created(played, "secret-name")
    [first] = await due(driver)
    await driver.write(partial(schedules.note_told, first, "here", (), 1, FAR_US))
    if how == "closed":
        await played.execute(SESSION, CloseSession(request_id="close"))
    else:
        await delete_session(played.journal, SESSION, DELETE)
        assert await stored("secret-name") == set()
    [ended] = await due(driver)
    assert (ended.state, ended.generation) == ("ended", schedule.generation)
    assert await take(played.journal, schedule) is None
    await driver.write(partial(schedules.note_refused, ended, "not now", FAR_US))
    assert await due(driver) == [], "one that Temporal does not let go of keeps no other waiting"
    await driver.write(partial(schedules.forget_schedule, ended))
    assert await due(driver) == []


async def test_one_whose_definition_was_erased_does_nothing_and_says_so(played: Played, stored: Stored) -> None:
    schedule = await created(played)
    await played.execute(SESSION.log, EraseEntry(request_id="erase", seq=schedule.generation))
    assert await stored("the news") == set()
    assert (await seen(played.journal)).definition is None
    assert await take(played.journal, schedule) is None
    trigger = await played.journal.execute(SESSION, TriggerSchedule(request_id="now", name="news"))
    assert trigger.code == "schedule_erased"
    await played.execute(SESSION, DeleteSchedule(request_id="delete", name="news"))


async def test_what_was_lost_of_them_is_written_anew_from_the_entries(played: Played, driver: Driver, sql: Sql) -> None:
    schedule = await created(played)
    await created(played, "other")
    await played.execute(SESSION, PauseSchedule(request_id="pause", name="other"))
    await take(played.journal, schedule)
    before = await store_schedules.list_schedules(played.journal, SESSION)
    await sql("UPDATE schedules SET state = 'active'")
    await sql("UPDATE ticks SET turn_id = 't-other'")
    found = [(finding.check, finding.seq) async for proof in verify(played.journal) for finding in proof.findings]
    assert found == [("schedule", 2), ("schedule", None)]
    await sql("DELETE FROM schedules")
    await sql("DELETE FROM ticks")
    assert [rebuilt.kept async for rebuilt in rebuild(played.journal)] == [""] * 3
    assert await store_schedules.list_schedules(played.journal, SESSION) == before
    assert len(await due(driver)) == 2
    assert await proven(played.journal)


async def test_what_can_be_no_schedule_is_refused_before_anything_is_committed(played: Played) -> None:
    await created(played)
    bad = NEWS.model_copy(update={"name": "bad", "times": Times(cron=("60 * * * *",))})
    with pytest.raises(InvalidInput, match="its minute is from 0 to 59"):
        await played.journal.execute(SESSION, CreateSchedule(request_id="bad", definition=bad))
    assert len(await played.journal.entries(SESSION.log)) == 2
