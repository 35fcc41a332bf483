"""Which worker has what, as Temporal sees it: so that the right one is killed, at the right moment."""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeAlias

from temporalio.client import WorkflowHandle

from turnwright.journal.durations import SECOND_US

LOOK_S = 0.02
KILLED_BEFORE_S = 0.1

AnyHandle: TypeAlias = WorkflowHandle[Any, Any]


async def who_calls(workflow: AnyHandle) -> str:
    """The identity of the worker that carries out the workflow's running activity, once there is one."""
    while True:
        found = (await workflow.describe()).raw_description.pending_activities
        if found and found[0].last_worker_identity:
            return found[0].last_worker_identity
        await asyncio.sleep(LOOK_S)


async def who_waits(workflow: AnyHandle) -> tuple[str, float]:
    """Who holds a workflow that has begun to wait, a moment before the wait is over; and when that is."""
    while True:
        events = (await workflow.fetch_history()).events
        timers = [event for event in events if event.HasField("timer_started_event_attributes")]
        if timers:
            break
        await asyncio.sleep(LOOK_S)
    length = timers[-1].timer_started_event_attributes.start_to_fire_timeout
    due_s = (timers[-1].event_time.ToMicroseconds() + length.ToMicroseconds()) / SECOND_US
    tasks = [event.workflow_task_completed_event_attributes.identity for event in events]
    await asyncio.sleep(due_s - KILLED_BEFORE_S - time.time())
    return [identity for identity in tasks if identity][-1], due_s
