"""What a schedule of Temporal comes to, so that the one that is there can be held against the one that shall be.

Rule: what decides when it comes and what it does then counts; notes, labels and ways to write the same do not. Temporal
writes specs anew (a cron expression becomes a calendar, whose ranges may be others), so numbers are held against
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
)
from temporalio.common import RetryPolicy
from temporalio.converter import DataConverter

from turnwright.journal.cron import DAYS_OF_THE_WEEK, cron_values
from turnwright.journal.schedules import UTC_ZONE
from turnwright.workflows.ids import ticks_named
from turnwright.workflows.payloads import TickInput
from turnwright.workflows.sealing import ENCODING, KEY_NAME

NONE = timedelta()
UNREADABLE = "it cannot be read"
RETRY_INTERVALS_MAX = 100
Numbers: TypeAlias = frozenset[int]
Calendar: TypeAlias = tuple[Numbers, ...]


@dataclass(frozen=True, slots=True)
class When:
    """The times of a schedule. Calendars have seconds, minutes, hours, days, months, days of the week, and years."""

    calendars: frozenset[Calendar]
    skipped: frozenset[Calendar]
    intervals: frozenset[tuple[timedelta, timedelta]]
    begin: datetime | None
    end: datetime | None
    jitter: timedelta
    time_zone: str


@dataclass(frozen=True, slots=True)
class What:
    """The workflow that is started, and how."""

    workflow: str
    given: tuple[object, ...]
    id: str
    task_queue: str
    timeouts: tuple[timedelta, ...]
    retry: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """All that counts of a schedule, but for whether it is paused. `what` None: it starts no workflow."""

    when: When
    what: What | None
    policy: SchedulePolicy
    limited: bool


async def form_of(schedule: Schedule, converter: DataConverter) -> Form:
    """The form of a schedule, as it is given to Temporal or as Temporal describes it."""
    action = schedule.action
    what = await _what(action, converter) if isinstance(action, ScheduleActionStartWorkflow) else None
    return Form(_when(schedule.spec), what, schedule.policy, schedule.state.limited_actions)


def _when(spec: ScheduleSpec) -> When:
    crons = ((frozenset({0}), *cron_values(text), frozenset[int]()) for text in spec.cron_expressions)
    return When(
        frozenset((*map(_calendar, spec.calendars), *crons)),
        frozenset(map(_calendar, spec.skip)),
        frozenset((one.every, one.offset or NONE) for one in spec.intervals),
        spec.start_at,
        spec.end_at,
        spec.jitter or NONE,
        spec.time_zone_name or UTC_ZONE,
    )


def _calendar(spec: ScheduleCalendarSpec) -> Calendar:
    days_of_the_week = frozenset(day % DAYS_OF_THE_WEEK for day in _numbers(spec.day_of_week))
    fields = (spec.second, spec.minute, spec.hour, spec.day_of_month, spec.month)
    return (*map(_numbers, fields), days_of_the_week, _numbers(spec.year))


def _numbers(ranges: Iterable[ScheduleRange]) -> Numbers:
    return frozenset(number for one in ranges for number in range(one.start, one.end + 1, one.step))


async def _what(action: ScheduleActionStartWorkflow, converter: DataConverter) -> What:
    return What(
        action.workflow,
        await _given(action, converter),
        ticks_named(action.id),
        action.task_queue,
        tuple(one or NONE for one in (action.execution_timeout, action.run_timeout, action.task_timeout)),
        () if action.retry_policy is None else _retry(action.retry_policy),
    )


async def _given(action: ScheduleActionStartWorkflow, converter: DataConverter) -> tuple[object, ...]:
    """Its arguments, each with what seals it. They are not compared as bytes: nothing is sealed twice alike."""
    payloads = [one if isinstance(one, Payload) else (await converter.encode([one]))[0] for one in action.args]
    seals = [(payload.metadata.get(ENCODING), payload.metadata.get(KEY_NAME)) for payload in payloads]
    try:
        values = await converter.decode(payloads, [TickInput]) if payloads else []
    except Exception:  # noqa: BLE001 - of whatever converter there is: what nobody can read is not what is wanted
        return (UNREADABLE,)
    return (*values, *seals)


def _retry(policy: RetryPolicy) -> tuple[object, ...]:
    """The SDK writes out the longest interval where none is said."""
    longest = policy.maximum_interval or policy.initial_interval * RETRY_INTERVALS_MAX
    refused = tuple(policy.non_retryable_error_types or ())
    return policy.initial_interval, policy.backoff_coefficient, longest, policy.maximum_attempts, refused
