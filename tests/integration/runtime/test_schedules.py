"""Temporal's own schedules, as they are made from the journal's, on a real Temporal."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from temporalio.client import (
    Client,
    DescribeScheduleInput,
    Interceptor,
    OutboundInterceptor,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.common import RetryPolicy
from temporalio.service import RPCError

from tests.integration.runtime.cluster import Cluster
from turnwright.journal import schedules
from turnwright.journal.commands import CreateSchedule, DeleteSchedule
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey
from turnwright.journal.keyring import Keys
from turnwright.journal.messages import user
from turnwright.journal.schedules import Definition, Times, checked_schedule
from turnwright.worker.schedules import Schedules
from turnwright.workflows.ids import schedule_id
from turnwright.workflows.schedule_forms import form_of
from turnwright.workflows.schedules import Scheduler, Wanted, end_schedules
from turnwright.workflows.sealing import converter

SESSION = SessionKey("t", None, "s")
NOW_US = 1_700_000_000 * SECOND_US
CRONS = (
    "*/5 8-18/2 1,15 jan-MAR mon,wed-fri", "0 0 29 feb *", "0 0 * * 7", "5/10 * * * *", "0 0 * * 0,5-7", "@yearly",
    "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@Hourly", "59 23 31 12 6", "*/59 */23 */31 */12 */7",
    "1-7/3,59 * 2/9 */5 5/2", "0 0 * * sun,3-7/2",
)  # fmt: skip
NINE: dict[str, Any] = {
    "cron": ("0 9 * * mon-fri", "30 18 1 * *"),
    "timezone": "Europe/Berlin",
    "jitter_s": 1,
    "catch_up_s": 600,
}
FORMS: tuple[dict[str, Any], ...] = (
    NINE,
    {"every_s": 3_600},
    {"every_s": 3_600, "offset_s": 600, "start_at": "2031-05-01T00:00:00+02:00", "end_at": "2031-05-01T02:30:00Z"},
)


def _edit_action(**changes: Any) -> Callable[[Schedule], None]:  # noqa: ANN401 - of the SDK's class
    return lambda schedule: schedule.action.__dict__.update(changes)


def _edit_spec(spec: ScheduleSpec) -> Callable[[Schedule], None]:
    return lambda schedule: setattr(schedule, "spec", spec)


BERLIN: dict[str, Any] = {"time_zone_name": "Europe/Berlin", "jitter": timedelta(seconds=1)}
EDITS: dict[str, Callable[[Schedule], None]] = {
    "other times": _edit_spec(ScheduleSpec(cron_expressions=["0 10 * * mon-fri", "30 18 1 * *"], **BERLIN)),
    "one time less": _edit_spec(ScheduleSpec(cron_expressions=["0 9 * * mon-fri"], **BERLIN)),
    "another clock": _edit_spec(ScheduleSpec(cron_expressions=list(NINE["cron"]), time_zone_name="Asia/Tokyo")),
    "an interval beside": lambda schedule: setattr(
        schedule.spec, "intervals", [ScheduleIntervalSpec(timedelta(hours=1))]
    ),
    "an end": lambda schedule: setattr(schedule.spec, "end_at", datetime(2040, 1, 1, tzinfo=UTC)),
    "another queue": _edit_action(task_queue="elsewhere"),
    "another workflow": _edit_action(workflow="Elsewhere"),
    "other arguments": _edit_action(args=["elsewhere"]),
    "another id": _edit_action(id="elsewhere"),
    "a time limit": _edit_action(run_timeout=timedelta(seconds=1)),
    "another retry": _edit_action(retry_policy=RetryPolicy(maximum_attempts=1)),
    "another overlap": lambda schedule: setattr(schedule.policy, "overlap", ScheduleOverlapPolicy.SKIP),
    "less catching up": lambda schedule: setattr(schedule.policy, "catchup_window", timedelta(seconds=10)),
    "no more of it": lambda schedule: setattr(schedule.state, "limited_actions", True),
}


def wanted(generation: int, **times: Any) -> Wanted:  # noqa: ANN401 - of `Times`
    definition = Definition(name="news", agent="bot", input=user("hello"), times=Times(**times))
    return Wanted(SESSION, generation, checked_schedule(definition), paused=False)


def words(times_us: tuple[int, ...]) -> list[str]:
    return [f"{datetime.fromtimestamp(at_us / SECOND_US, UTC):%m-%d %H:%M}" for at_us in times_us]


async def edit(handle: ScheduleHandle, change: Callable[[Schedule], None]) -> None:
    """Change a schedule with Temporal's own tools."""

    def changed(given: ScheduleUpdateInput) -> ScheduleUpdate:
        change(given.description.schedule)
        return ScheduleUpdate(given.description.schedule)

    await handle.update(changed)


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


async def test_what_we_take_as_a_cron_expression_temporal_takes_and_keeps(small_cluster: Cluster) -> None:
    scheduler = Scheduler(small_cluster.waker)
    for generation, times in enumerate([*({"cron": (text,)} for text in CRONS), *FORMS], start=1):
        given = wanted(generation, **times)
        comes = await scheduler.apply(given, NOW_US)
        assert comes, times
        assert await scheduler.apply(given, NOW_US) == comes
        handle = small_cluster.client.get_schedule_handle(schedule_id(small_cluster.journal_id, SESSION, generation))
        assert (await handle.describe()).info.last_updated_at is None, f"{times} is right as it is"


@pytest.mark.parametrize("paused", [False, True])
async def test_whatever_is_edited_in_temporal_is_set_right(small_cluster: Cluster, paused: bool) -> None:
    scheduler, given = Scheduler(small_cluster.waker), replace(wanted(1, **NINE), paused=paused)
    await scheduler.apply(given, NOW_US)
    handle = small_cluster.client.get_schedule_handle(schedule_id(small_cluster.journal_id, SESSION, 1))
    converter = small_cluster.client.data_converter
    right = await form_of((await handle.describe()).schedule, converter)
    for name, change in EDITS.items():
        await edit(handle, change)
        assert await form_of((await handle.describe()).schedule, converter) != right, name
        await scheduler.apply(given, NOW_US)
        found = await handle.describe()
        assert await form_of(found.schedule, converter) == right, name
        assert found.schedule.state.paused is paused, name
        await scheduler.apply(given, NOW_US)
        assert (await handle.describe()).info.last_updated_at == found.info.last_updated_at, name
    await (handle.unpause() if paused else handle.pause())
    await scheduler.apply(given, NOW_US)
    assert (await handle.describe()).schedule.state.paused is paused


async def test_a_task_queue_that_has_moved_is_told_to_what_is_there(small_cluster: Cluster) -> None:
    given, handle_id = wanted(1, **NINE), schedule_id(small_cluster.journal_id, SESSION, 1)
    await Scheduler(small_cluster.waker).apply(given, NOW_US)
    await Scheduler(replace(small_cluster.waker, task_queue="moved")).apply(given, NOW_US)
    found = await small_cluster.client.get_schedule_handle(handle_id).describe()
    assert isinstance(found.schedule.action, ScheduleActionStartWorkflow)
    assert found.schedule.action.task_queue == "moved"


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


async def test_a_tick_of_a_schedule_that_is_no_more_takes_temporal_s_own_one_away(
    small_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "EVERY_S_MIN", 1)
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


class CutOff(Interceptor):
    """A worker that dies when it has changed a schedule, before it can ask for missed times."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - the SDK's name
        return Dying(next)


class Dying(OutboundInterceptor):
    seen = False

    async def describe_schedule(self, input: DescribeScheduleInput) -> ScheduleDescription:  # noqa: A002 - the SDK's name
        if self.seen:
            raise ConnectionError("it is gone")
        self.seen = True
        return await super().describe_schedule(input)


async def test_what_a_schedule_missed_is_asked_for_once_also_if_a_worker_died_before_it_could(
    small_cluster: Cluster,
) -> None:
    there = small_cluster.client
    handle = there.get_schedule_handle(schedule_id(small_cluster.journal_id, SESSION, 1))

    async def came(times: int) -> bool:
        return (await handle.describe()).info.num_actions == times

    def pause(schedule: Schedule) -> None:
        schedule.state.paused = True

    for n, change in enumerate((None, EDITS["other times"], pause), start=1):
        now_us = NOW_US + n * 86_400 * SECOND_US
        given = replace(wanted(1, every_s=3_600), missed_since_us=now_us - 3 * 3_600 * SECOND_US)
        if change is not None:
            await edit(handle, change)
        doomed = Client(there.service_client, namespace=there.namespace, interceptors=[CutOff()])
        with pytest.raises(ConnectionError):
            await Scheduler(replace(small_cluster.waker, client=doomed)).apply(given, now_us)
        for _ in range(2):
            await Scheduler(small_cluster.waker).apply(given, now_us)
        await small_cluster.until(partial(came, 3 * n))


async def test_workers_that_moved_to_another_task_queue_tell_temporal_at_once(small_cluster: Cluster) -> None:
    cluster = small_cluster
    await cluster.session()
    given = wanted(2, every_s=3_600)
    await cluster.journal.execute(SESSION, CreateSchedule(request_id="create", definition=given.definition))
    handle = cluster.client.get_schedule_handle(schedule_id(cluster.journal_id, SESSION, 2))

    async def told(queue: str) -> bool:
        if not await is_there(handle):
            return False
        action = (await handle.describe()).schedule.action
        assert isinstance(action, ScheduleActionStartWorkflow)
        return action.task_queue == queue

    for queue in (cluster.waker.task_queue, "moved"):
        loop = Schedules(cluster.journal.driver, Scheduler(replace(cluster.waker, task_queue=queue)))
        await loop.start()
        await cluster.until(partial(told, queue))
        await loop.stop()


async def test_a_schedule_is_sealed_anew_when_the_key_has_changed(small_cluster: Cluster) -> None:
    there, given = small_cluster.client, wanted(1, **NINE)
    handle = there.get_schedule_handle(schedule_id(small_cluster.journal_id, SESSION, 1))
    keys = {"old": bytes(32), "new": bytes([1] * 32)}
    updated_at = None
    for held in ({}, {"old": keys["old"]}, {"new": keys["new"], "old": keys["old"]}, {"new": keys["new"]}):
        sealing = converter(Keys(held) if held else None)
        client = Client(there.service_client, namespace=there.namespace, data_converter=sealing)
        for _ in range(2):
            await Scheduler(replace(small_cluster.waker, client=client)).apply(given, NOW_US)
        found = await handle.describe()
        assert isinstance(found.schedule.action, ScheduleActionStartWorkflow)
        [payload] = found.schedule.action.args
        assert payload.metadata.get("key", b"").decode() == next(iter(held), "")
        assert (updated_at == found.info.last_updated_at) is (len(held) == 0 or "old" not in held)
        updated_at = found.info.last_updated_at
