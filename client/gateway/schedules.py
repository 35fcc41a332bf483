"""The routes that show schedules; what is done to them stands in the table of commands."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from turnwright.client.gateway.desk import AskedSession, AtDesk, WhoAsks, guarded_router
from turnwright.client.on_the_wire import from_path
from turnwright.client.session import Session
from turnwright.journal.schedules import Schedule

router = guarded_router("sessions")


@router.get("/sessions/{session}/schedules")
async def list_schedules(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> tuple[Schedule, ...]:
    """The session's schedules, oldest first: when each comes next, and what became of its newest ticks."""
    return await Session(desk.access(caller), key).schedules()


@router.get("/sessions/{session}/schedules/{schedule}")
async def see_schedule(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, schedule: Annotated[str, Path(description="Its name.")]
) -> Schedule:
    """A schedule, and what became of its last 50 ticks."""
    return await Session(desk.access(caller), key).schedule(from_path(schedule))
