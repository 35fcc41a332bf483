"""Lists that many ask for at once, read once for all of them.

Rule: whoever asks is given a reading that began after they asked, so what they did before is in it. One list is read by
one reading at a time, and when it is wanted often the next one begins a moment later: a hundred consoles that look at
the same list cost ten readings a second.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
FREE_PER_S = 10
SPACING_S = 0.1
LISTS_REMEMBERED_MAX = 1_000


@dataclass(slots=True)
class _List:
    begun_s: deque[float] = field(default_factory=lambda: deque(maxlen=FREE_PER_S))
    running: asyncio.Task[Any] | None = None
    next: asyncio.Task[Any] | None = None


class Readings:
    """The lists that are being read, by what was asked for."""

    def __init__(self) -> None:
        self._lists: OrderedDict[Hashable, _List] = OrderedDict()

    async def take(self, wanted: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """What `read` gives, or gave to somebody who asked for the same before it began. Raises what it raised."""
        one = self._lists.setdefault(wanted, _List())
        self._lists.move_to_end(wanted)
        while len(self._lists) > LISTS_REMEMBERED_MAX:
            self._lists.popitem(last=False)
        if one.next is None:
            one.next = asyncio.create_task(_read(one, read))
            one.next.add_done_callback(_taken)
        # Who goes away takes the reading from nobody else.
        result: T = await asyncio.shield(one.next)
        return result


async def _read(one: _List, read: Callable[[], Awaitable[T]]) -> T:
    if one.running is not None:
        await asyncio.wait([one.running])
    await asyncio.sleep(_wait_s(one, asyncio.get_running_loop().time()))
    one.running, one.next = one.next, None
    one.begun_s.append(asyncio.get_running_loop().time())
    return await read()


def _wait_s(one: _List, now_s: float) -> float:
    """How long until the next reading may begin."""
    often = len(one.begun_s) == FREE_PER_S and now_s - one.begun_s[0] < 1
    return max(0.0, one.begun_s[-1] + SPACING_S - now_s) if often else 0.0


def _taken(task: asyncio.Task[Any]) -> None:
    """Nobody may be left to whom it matters that it failed."""
    if not task.cancelled():
        task.exception()
