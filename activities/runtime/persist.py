"""Commit what happened, however long the store is away.

Rule: an effect that took place is never dropped because the database was restarting. Repeating is safe:
the journal recognises its own entries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from temporalio.service import RPCError

from turnwright.activities.runtime.seldom import Seldom
from turnwright.journal.errors import StoreUnavailable

T = TypeVar("T")
FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 2.0
WAKE_S_MAX = 5.0
log = structlog.get_logger(__name__)
_seldom = Seldom()


async def persist(commit: Callable[[], Awaitable[T]]) -> T:
    """Run `commit` until the store answers; anything but `StoreUnavailable` is raised."""
    wait_s = FIRST_WAIT_S
    while True:
        try:
            return await commit()
        except StoreUnavailable as error:
            if _seldom.is_due(str(error)):
                log.warning("store_unavailable", error=str(error), then="it is tried again until it works")
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)


async def quietly(waking: Awaitable[object]) -> None:
    """Wake somebody; a wake-up that is lost costs latency only, for the sweeper finds what it was about."""
    try:
        async with asyncio.timeout(WAKE_S_MAX):
            await waking
    except (RPCError, TimeoutError) as error:
        log.warning("wake_lost", error=str(error) or f"Temporal did not answer within {WAKE_S_MAX:g} s")
