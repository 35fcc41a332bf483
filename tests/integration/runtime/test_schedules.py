"""Temporal's own schedules, as they are made from the journal's, on a real Temporal."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from temporalio.client import ScheduleHandle
from temporalio.service import RPCError

from tests.integration.runtime.cluster import Cluster
from turnwright.journal.commands import CreateSchedule, DeleteSchedule
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey
from turnwright.journal.messages import user
from turnwright.journal.schedules import Definition, Times, checked_schedule
from turnwright.workflows.ids import schedule_id
from turnwright.workflows.schedules import Scheduler, Wanted, end_schedules

SESSION = SessionKey("t", None, "s")
NOW_US = 1_700_000_000 * SECOND_US
CRONS = (
    "*/5 8-18/2 1,15 jan-MAR mon,wed-fri", "0 0 29 feb *", "0 0 * * 7", "5/10 * * * *", "0 0 * * 0,5-7", "@yearly",
    "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@Hourly", "59 23 31 12 6", "*/59 */23 */31 */12 */7",
)  # fmt: skip


def wanted(generation: int, **times: Any) -> Wanted:  # noqa: ANN401 - of `Times`
    definition = Definition(name="news", agent="bot", input=user("hello"), times=Times(**times))
    return Wanted(SESSION, generation, checked_schedule(definition), paused=False)


def words(times_us: tuple[int, ...]) -> list[str]:
    return [f"{datetime.fromtimestamp(at_us / SECOND_US, UTC):%m-%d %H:%M}" for at_us in times_us]


async def is_there(handle: ScheduleHandle) -> bool:
    try:
        await handle.describe()
    except RPCError:
        return False
    return True


async def test_nine_o_clock_is_nine_o_clock_in_summer_and_in_winter(small_cluster: Cluster) -> None:
    scheduler = Scheduler(small_cluster.waker)
    berlin = {"cron": ("0 9 * * *",), "timezone": "Europe/Berlin"}
    spring = await scheduler.apply(wanted(1, start_at="2027-03-27T00:00:00Z", **berlin), NOW_US)
    autumn = await scheduler.apply(wanted(2, start_at="2027-10-30T00:00:00Z", **berlin), NOW_US)
    assert words(spring)[:3] == ["03-27 08:00", "03-28 07:00", "03-29 07:00"]
    assert words(autumn)[:3] == ["10-30 07:00", "10-31 08:00", "11-01 08:00"]


async def test_an_hour_that_the_clock_leaves_out_or_has_twice_comes_once_at_most(small_cluster: Cluster) -> None:
    scheduler = Scheduler(small_cluster.waker)
    berlin = {"cron": ("30 2 * * *",), "timezone": "Europe/Berlin"}
    spring = await scheduler.apply(wanted(1, start_at="2027-03-27T00:00:00Z", **berlin), NOW_US)
    autumn = await scheduler.apply(wanted(2, start_at="2027-10-30T00:00:00Z", **berlin), NOW_US)
    assert words(spring)[:2] == ["03-27 01:30", "03-29 00:30"]
    assert [word[:5] for word in words(autumn)[:3]] == ["10-30", "10-31", "11-01"]


async def test_it_comes_between_its_start_and_its_end_at_its_offset(small_cluster: Cluster) -> None:
    given = wanted(1, every_s=3_600, offset_s=600, start_at="2031-05-01T00:00:00Z", end_at="2031-05-01T02:30:00Z")
    assert words(await Scheduler(small_cluster.waker).apply(given, NOW_US)) == [
        "05-01 00:10", "05-01 01:10", "05-01 02:10",
    ]  # fmt: skip


async def test_what_we_take_as_a_cron_expression_temporal_takes(small_cluster: Cluster) -> None:
    for generation, text in enumerate(CRONS, start=1):
        assert await Scheduler(small_cluster.waker).apply(wanted(generation, cron=(text,)), NOW_US), text


async def test_only_the_schedules_of_a_journal_s_earlier_id_are_ended(small_cluster: Cluster) -> None:
    cluster = small_cluster
    before = replace(cluster.waker, journal_id=f"{cluster.journal_id}0")
    for waker in (cluster.waker, before):
        await Scheduler(waker).apply(wanted(1, every_s=3_600), NOW_US)

    async def ended() -> bool:
        return await end_schedules(cluster.client, before.journal_id) == 1

    await cluster.until(ended)
    assert await Scheduler(cluster.waker).apply(wanted(1, every_s=3_600), NOW_US)
    for waker, there in ((cluster.waker, True), (before, False)):
        handle = cluster.client.get_schedule_handle(schedule_id(waker.journal_id, SESSION, 1))
        assert await is_there(handle) is there


async def test_a_tick_of_a_schedule_that_is_no_more_takes_temporal_s_own_one_away(small_cluster: Cluster) -> None:
    cluster = small_cluster
    await cluster.session()
    given = wanted(2, every_s=1)
    await cluster.journal.execute(SESSION, CreateSchedule(request_id="create", definition=given.definition))
    await cluster.journal.execute(SESSION, DeleteSchedule(request_id="delete", name="news"))
    await Scheduler(cluster.waker).apply(given, NOW_US)  # by somebody who was slow
    handle = cluster.client.get_schedule_handle(schedule_id(cluster.journal_id, SESSION, 2))
    await cluster.start_worker()

    async def gone() -> bool:
        return not await is_there(handle)

    await cluster.until(gone)
    assert len(await cluster.entries(SESSION.log)) == 3
