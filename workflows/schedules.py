"""Temporal's own schedules, made from the journal's.

Rule: what Temporal has follows from the journal, so it can be made again at any time. Its overlap policy lets every
tick begin: those are of a moment, and what a tick does while a turn runs is decided in the journal.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleBackfill,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey
from turnwright.journal.schedules import Definition, Times
from turnwright.workflows.ids import schedule_id, schedules_prefix, tick_workflow_id
from turnwright.workflows.payloads import TICK_WORKFLOW, TickInput
from turnwright.workflows.waking import BEGIN_ANEW, RPC_TIMEOUT_S, SUMMARY_CHARACTERS_MAX, Waker

RPC_TIMEOUT = timedelta(seconds=RPC_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A schedule as Temporal shall have it. `missed_since_us`: if it has it no more, what came since is made up for."""

    session: SessionKey
    generation: int
    definition: Definition
    paused: bool
    missed_since_us: int | None = None


@dataclass(frozen=True)
class Scheduler:
    """The schedules of one journal in one Temporal."""

    waker: Waker

    async def apply(self, wanted: Wanted, now_us: int) -> tuple[int, ...]:
        """Have Temporal's schedule as it is wanted; when it comes next, in microseconds since 1970 UTC.

        Raises:
            RPCError: Temporal is away, or does not take it.
        """
        handle = self._handle(wanted.session, wanted.generation)
        try:
            found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            await self._create(wanted, now_us)
            found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        if found.schedule.state.paused != wanted.paused:
            note = "as the journal says"
            await (handle.pause if wanted.paused else handle.unpause)(note=note, rpc_timeout=RPC_TIMEOUT)
        return tuple(round(time.timestamp()) * SECOND_US for time in found.info.next_action_times)

    async def delete(self, session: SessionKey, generation: int) -> None:
        """Let Temporal have it no more; harmless when it has not.

        Raises:
            RPCError: Temporal is away.
        """
        try:
            await self._handle(session, generation).delete(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    def _handle(self, session: SessionKey, generation: int) -> ScheduleHandle:
        return self.waker.client.get_schedule_handle(schedule_id(self.waker.journal_id, session, generation))

    async def _create(self, wanted: Wanted, now_us: int) -> None:
        backfill = []
        if wanted.missed_since_us is not None and not wanted.paused and wanted.missed_since_us < now_us:
            since, until = _utc(wanted.missed_since_us), _utc(now_us)
            backfill = [ScheduleBackfill(since, until, overlap=ScheduleOverlapPolicy.ALLOW_ALL)]
        with suppress(ScheduleAlreadyRunningError):  # another worker was faster, and did the same
            await self.waker.client.create_schedule(
                schedule_id(self.waker.journal_id, wanted.session, wanted.generation),
                self._schedule(wanted),
                backfill=backfill,
                memo={"session": wanted.session.canonical, "schedule": wanted.definition.name},
                rpc_timeout=RPC_TIMEOUT,
            )

    def _schedule(self, wanted: Wanted) -> Schedule:
        session, definition = wanted.session, wanted.definition
        summary = f"schedule {definition.name} of session {session.session}"[:SUMMARY_CHARACTERS_MAX]
        action = ScheduleActionStartWorkflow(
            TICK_WORKFLOW,
            TickInput(session.canonical, definition.name, wanted.generation),
            id=tick_workflow_id(self.waker.journal_id, session, wanted.generation),
            task_queue=self.waker.task_queue,
            task_timeout=timedelta(seconds=self.waker.workflow_task_timeout_s),
            retry_policy=BEGIN_ANEW,
            static_summary=summary,
        )
        policy = SchedulePolicy(
            overlap=ScheduleOverlapPolicy.ALLOW_ALL, catchup_window=timedelta(seconds=definition.times.catch_up_s)
        )
        state = ScheduleState(note=summary, paused=wanted.paused)
        return Schedule(action=action, spec=_spec(definition.times), policy=policy, state=state)


async def end_schedules(client: Client, journal_id: str, most: int | None = None) -> int:
    """Delete what a Temporal has of schedules of a journal's id; how many, `most` at a time.

    Raises:
        RPCError: it is away, or refuses.
    """
    prefix, ended = schedules_prefix(journal_id), 0
    async for found in await client.list_schedules(f"ScheduleId STARTS_WITH '{prefix}'", rpc_timeout=RPC_TIMEOUT):
        if most is not None and ended >= most:
            break
        try:
            await client.get_schedule_handle(found.id).delete(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        ended += 1
    return ended


def _spec(times: Times) -> ScheduleSpec:
    every = [] if times.every_s is None else [
        ScheduleIntervalSpec(timedelta(seconds=times.every_s), offset=timedelta(seconds=times.offset_s))
    ]  # fmt: skip
    return ScheduleSpec(
        cron_expressions=list(times.cron),
        intervals=every,
        start_at=None if times.start_at is None else datetime.fromisoformat(times.start_at),
        end_at=None if times.end_at is None else datetime.fromisoformat(times.end_at),
        jitter=timedelta(seconds=times.jitter_s),
        time_zone_name=times.timezone,
    )


def _utc(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us / SECOND_US, UTC)
