"""A tick of a schedule: the journal decides what becomes of it, and the thread is woken.

Rule: one of a schedule that is no more takes Temporal's own one away, which somebody who was slow may have made again.
"""

from __future__ import annotations

import json

from turnwright.activities.runtime.parts import Parts
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey
from turnwright.journal.store_schedules import take_tick as take
from turnwright.workflows.payloads import TickInput, TickTaken
from turnwright.workflows.schedules import Scheduler

GONE = frozenset({"unknown_schedule", "unknown_session", "session_closed"})


async def take_tick(parts: Parts, given: TickInput) -> TickTaken:
    """Submit the turn of a tick, or have recorded why not."""
    session = SessionKey(*json.loads(given.session))
    await parts.boundary("tick:come")
    taken = await take(parts.journal, session, given.name, given.generation, given.due_s * SECOND_US)
    if taken is None or taken[1].code in GONE:
        await Scheduler(parts.waker).delete(session, given.generation)
        return TickTaken(code="unknown_schedule" if taken is None else taken[1].code or "")
    thread, receipt = taken
    if receipt.turn_id is None or receipt.status == "rejected":
        return TickTaken(code=receipt.code or "")
    await parts.boundary("tick:taken")
    await parts.waker.thread(thread)
    return TickTaken(turn=receipt.turn_id)
