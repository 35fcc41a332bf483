"""Schedules of a session: looking at them, and taking their ticks.

Rule: a tick is taken as often as somebody asks, and is one turn: its request id is made of the schedule and its time.
"""

from __future__ import annotations

from functools import partial

from turnwright.journal.commands import Receipt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import Schedule, tick_request
from turnwright.journal.store import Journal
from turnwright.journal.transact import schedules


async def list_schedules(journal: Journal, key: SessionKey) -> tuple[Schedule, ...] | None:
    """A session's schedules, oldest first, with their newest ticks; None when there is no such session."""
    return await journal.driver.read(partial(schedules.list_schedules, key))


async def find_schedule(journal: Journal, key: SessionKey, name: str) -> Schedule | None:
    """One of a session's schedules, with all ticks that are kept; None when there is none of that name."""
    return await journal.driver.read(partial(schedules.find_schedule, key, name))


async def take_tick(
    journal: Journal, key: SessionKey, name: str, generation: int, due_us: int
) -> tuple[ThreadKey, Receipt] | None:
    """Submit the turn of a tick; the thread and what became of it. None: the schedule's definition is gone."""
    made = await journal.driver.read(partial(schedules.find_definition, key, generation))
    if made is None:
        return None
    thread, tick = schedules.tick_of(key, generation, made, tick_request(name, generation, due_us), due_us)
    return thread, await journal.execute(thread, tick)
