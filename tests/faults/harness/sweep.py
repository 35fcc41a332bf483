"""Sweeps: the work is struck at the first passing of a point, then at the second, until it ends before the next one.

Rule: a run strikes at every third passing, and beginning with another one each day, so that three days strike at all;
`FAULT_SWEEPS=1` strikes at all of them at once.
"""

import itertools
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeAlias

ALL = "FAULT_SWEEPS" in os.environ
STRIDE = 1 if ALL else 3
Strike: TypeAlias = Callable[[str], Awaitable[bool]]


async def sweep(strike: Strike, *points: str) -> int:
    """Strike at places such as `commit:3` of each point; how often that was.

    Args:
        strike: False when the work ended before it came to that place.
        points: all that is passed more than once.
    """
    struck, today = 0, datetime.now(UTC).toordinal()
    for nth, point in enumerate(points):
        for at in itertools.count(1 + (today + nth) % STRIDE, STRIDE):
            if not await _told(strike, f"{point}:{at}"):
                break
            struck += 1
    return struck


def at_least(passings: int) -> int:
    """How often a sweep over so many passings strikes."""
    return max(1, passings // STRIDE)


async def _told(strike: Strike, place: str) -> bool:
    try:
        return await strike(place)
    except BaseException as error:
        error.add_note(f"it was struck at {place}")
        raise
