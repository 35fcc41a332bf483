"""Temporal's own schedules, made from the journal's.

Rule: what Temporal has follows from the journal, so it can be made again at any time, and what is changed there is set
right; one that is right is let alone. Its overlap policy lets every tick begin: those are of a moment, and what a tick
does while a turn runs is decided in the journal.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from temporalio.api.enums.v1 import ScheduleOverlapPolicy as Overlaps
from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import PatchScheduleRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
)
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey
from turnwright.journal.schedules import Definition, Times
from turnwright.workflows.ids import schedule_id, schedules_prefix, tick_workflow_id
from turnwright.workflows.payloads import TICK_WORKFLOW, TickInput
from turnwright.workflows.schedule_forms import form_of
from turnwright.workflows.waking import BEGIN_ANEW, RPC_TIMEOUT_S, SUMMARY_CHARACTERS_MAX, Waker

RPC_TIMEOUT = timedelta(seconds=RPC_TIMEOUT_S)
NOTE = "as the journal says"
UNFINISHED = "set right; what it missed is to be made up for"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A schedule as Temporal shall have it. `missed_since_us`: if it has it otherwise, since when it is made up for."""

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
        handle, began_s = self._handle(wanted.session, wanted.generation), time.monotonic()
        try:
            found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            await self._create(wanted)
            found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        if await self._set_right(handle, found, wanted, now_us):
            found = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        if found.schedule.state.note == UNFINISHED and not wanted.paused:
            # Only now: described as it is wanted, it misses nothing more.
            await self._make_up(handle.id, wanted, now_us + round((time.monotonic() - began_s) * SECOND_US))
        return tuple(round(at.timestamp()) * SECOND_US for at in found.info.next_action_times)

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

    async def _create(self, wanted: Wanted) -> None:
        with suppress(ScheduleAlreadyRunningError):  # another worker was faster, and did the same
            await self.waker.client.create_schedule(
                schedule_id(self.waker.journal_id, wanted.session, wanted.generation),
                self._schedule(wanted),
                memo={"session": wanted.session.canonical, "schedule": wanted.definition.name},
                rpc_timeout=RPC_TIMEOUT,
            )

    async def _set_right(self, handle: ScheduleHandle, found: ScheduleDescription, wanted: Wanted, now_us: int) -> bool:
        """Have what Temporal describes as it is wanted; whether anything was to be changed.

        Its note says that it is unfinished until what it missed was asked for, so that of a worker that dies in between
        the next one does the rest.
        """
        shall, converter = self._schedule(wanted, again_us=now_us), self.waker.client.data_converter
        if await form_of(found.schedule, converter) != await form_of(shall, converter):
            await handle.update(lambda _: ScheduleUpdate(shall), rpc_timeout=RPC_TIMEOUT)
        elif found.schedule.state.paused == wanted.paused:
            return False
        elif wanted.paused:
            await handle.pause(note=NOTE, rpc_timeout=RPC_TIMEOUT)
        else:
            await handle.unpause(note=_note(wanted), rpc_timeout=RPC_TIMEOUT)
        return True

    async def _make_up(self, named: str, wanted: Wanted, until_us: int) -> None:
        """Have the times come that it missed; one that came after all is taken once.

        One request says so and that nothing is left to do: of two, Temporal may forget the first for the second.
        """
        patch = SchedulePatch(unpause=NOTE)  # which it is: only the note is another one
        if wanted.missed_since_us is not None and wanted.missed_since_us < until_us:
            missed = patch.backfill_request.add(overlap_policy=Overlaps.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL)
            missed.start_time.FromMicroseconds(wanted.missed_since_us)
            missed.end_time.FromMicroseconds(until_us)
        client = self.waker.client
        request = PatchScheduleRequest(
            namespace=client.namespace,
            schedule_id=named,
            patch=patch,
            identity=client.identity,
            request_id=uuid4().hex,
        )
        await client.workflow_service.patch_schedule(request, retry=True, timeout=RPC_TIMEOUT)

    def _schedule(self, wanted: Wanted, *, again_us: int = 0) -> Schedule:
        session, definition = wanted.session, wanted.definition
        summary = f"schedule {definition.name} of session {session.session}"[:SUMMARY_CHARACTERS_MAX]
        action = ScheduleActionStartWorkflow(
            TICK_WORKFLOW,
            TickInput(session.canonical, definition.name, wanted.generation),
            id=tick_workflow_id(self.waker.journal_id, session, wanted.generation, again_us),
            task_queue=self.waker.task_queue,
            task_timeout=timedelta(seconds=self.waker.workflow_task_timeout_s),
            retry_policy=BEGIN_ANEW,
            static_summary=summary,
        )
        policy = SchedulePolicy(
            overlap=ScheduleOverlapPolicy.ALLOW_ALL, catchup_window=timedelta(seconds=definition.times.catch_up_s)
        )
        state = ScheduleState(note=_note(wanted), paused=wanted.paused)
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


def _note(wanted: Wanted) -> str:
    return NOTE if wanted.paused or wanted.missed_since_us is None else UNFINISHED


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
