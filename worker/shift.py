"""One spell of work with one Temporal client: waker, activities, sweeper and Temporal's worker, put together.

Rule: everything here hangs on the client. When Temporal's worker fails for good (its namespace is gone, its
credentials are refused) the shift ends with the error and the process begins another one.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Final

import structlog
from temporalio.worker import Interceptor, Worker
from temporalio.workflow import NondeterminismError

from turnwright.activities.registry import Registry
from turnwright.activities.runtime import Activities, ActivitySettings
from turnwright.activities.runtime.surroundings import Surroundings
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.snapshots.opening import snapshots_at
from turnwright.journal.store import Journal
from turnwright.worker.actor import Actor, stop_all
from turnwright.worker.condition import Condition
from turnwright.worker.engine import Eviction
from turnwright.worker.inbox import Inbox
from turnwright.worker.outages import Outages
from turnwright.worker.rescues import Counted
from turnwright.worker.rousing import TemporalRouser
from turnwright.worker.schedules import Schedules
from turnwright.worker.settings import Settings
from turnwright.worker.snapshots import Snapshots
from turnwright.worker.strangers import Strangers
from turnwright.worker.sweeper import Sweeper, SweepSettings
from turnwright.worker.underway import Underway, let_go
from turnwright.workflows.sandbox import workflow_runner
from turnwright.workflows.schedules import Scheduler
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow
from turnwright.workflows.tick import TickWorkflow
from turnwright.workflows.turn import TurnWorkflow
from turnwright.workflows.waking import Waker

WORKFLOWS: Final[Sequence[type]] = (SessionWorkflow, ThreadWorkflow, TurnWorkflow, TickWorkflow)
# The SDK sends a heartbeat at most so often, whatever an activity does; a cancel comes back with one.
HEARTBEAT_THROTTLE_S_MAX = 1.0

log = structlog.get_logger(__name__)


class Shift:
    """Works from `begin` until it is ended or fails."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        waker: Waker,
        registry: Registry,
        label: str,
        *,
        around: Surroundings,
        lapsed: Callable[[], bool],
        condition: Condition,
    ) -> None:
        self._settings = settings
        self._activities = Activities(
            journal,
            waker,
            registry,
            lambda: journal.terms.presence or "",
            _activity_settings(settings),
            tools=ToolHost(cancel_grace_s=settings.cancel_grace_s),
            around=around,
        )
        sweep = SweepSettings(settings.sweep_interval_s, settings.stall_s)
        rouser = Counted(TemporalRouser(waker), condition.rescues)
        self._sweeper = Sweeper(journal.driver, rouser, lambda: journal.terms, sweep)
        inbox = Inbox(journal.driver, waker.thread, lambda: journal.terms)
        schedules = Schedules(journal.driver, Scheduler(waker))
        self._leading: tuple[Actor, ...] = (self._sweeper, schedules, inbox)
        if settings.snapshots is not None:
            self._leading = (*self._leading, Snapshots(journal, snapshots_at(settings.snapshots)))
        self._actors: tuple[Actor, ...] = (self._activities, *self._leading)
        self._underway = Underway(condition)
        interceptors = [Strangers(journal.driver, waker.journal_id, waker.task_queue), Outages(lapsed), self._underway]
        self._worker = _temporal_worker(settings, waker, self._activities, label, interceptors)

    async def work(self, stopping: asyncio.Event, evicted: asyncio.Future[Eviction]) -> None:
        """Work until `stopping` is set; then finish or hand over what runs.

        Raises:
            ServedElsewhere: this worker was evicted.
            JournalRenamed: so it was, because the journal has another id.
            Exception: what Temporal's worker failed with.
        """
        try:
            for actor in self._actors:
                await actor.start()
            await self._run(stopping, evicted)
        finally:
            await stop_all(self._actors)
        if evicted.done():
            raise evicted.result()

    async def _run(self, stopping: asyncio.Event, evicted: asyncio.Future[Eviction]) -> None:
        working = asyncio.create_task(self._worker.run(), name="temporal-worker")
        asked = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait((working, asked, evicted), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                log.info("worker_draining", drain_timeout_s=self._settings.drain_timeout_s)
        finally:
            asked.cancel()
            # Another leads while this one only finishes, and nothing may run on when the journal is closed behind it.
            ends = (stop_all(self._leading), let_go(self._worker, working, self._underway))
            for outcome in await asyncio.gather(*ends, return_exceptions=True):
                if outcome is not None:
                    raise outcome


def _activity_settings(settings: Settings) -> ActivitySettings:
    """Beside what they say: others may give a claim up as soon as the lease since the last beat is over.

    A beat is at most a third of the lease older than the claim, so half a lease after it the claim still holds.
    """
    fresh_s = min(ActivitySettings().claim_fresh_s, settings.lease_s / 2)
    return ActivitySettings(
        heartbeat_interval_s=settings.heartbeat_interval_s, claim_fresh_s=fresh_s, drain_s=settings.drain_timeout_s
    )


def _temporal_worker(
    settings: Settings, waker: Waker, activities: Activities, label: str, interceptors: Sequence[Interceptor]
) -> Worker:
    throttle = timedelta(seconds=HEARTBEAT_THROTTLE_S_MAX)
    return Worker(
        waker.client,
        task_queue=waker.task_queue,
        workflows=WORKFLOWS,
        activities=activities.all,
        workflow_runner=workflow_runner(),
        workflow_failure_exception_types=[NondeterminismError],  # a run of another build is begun anew, not stuck
        interceptors=interceptors,
        identity=f"{label} {os.getpid()}",  # the SDK's own names the machine
        build_id=version("turnwright"),  # stands in three events of each activity; the SDK's own is a long hash
        max_concurrent_workflow_tasks=settings.max_concurrent_workflow_tasks,
        max_concurrent_activities=settings.max_concurrent_activities,
        max_concurrent_local_activities=settings.max_concurrent_activities,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=settings.sticky_timeout_s),
        max_heartbeat_throttle_interval=throttle,
        default_heartbeat_throttle_interval=throttle,
        graceful_shutdown_timeout=timedelta(seconds=settings.drain_timeout_s),
    )
