"""How a conversation is kept step by step: what every way of keeping it tells about itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Protocol

import asyncpg

LAST_STEPS = 5


@dataclass(slots=True)
class Clock:
    """When each step began; a conversation whose time is over is stopped, and tells how far it came."""

    steps: int
    limit_s: float
    began: list[float] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether all steps are done, or the time is."""
        return self.done >= self.steps or (bool(self.began) and time.perf_counter() - self.began[0] > self.limit_s)

    @property
    def done(self) -> int:
        """Steps that have ended, when one more is to begin."""
        return len(self.began) - 1

    def tick(self) -> None:
        """One step ends, and the next begins."""
        self.began.append(time.perf_counter())


@dataclass(frozen=True, slots=True)
class Kept:
    """What a conversation took."""

    steps: int
    seconds: float
    last_step_s: float
    stored_bytes: int

    @classmethod
    def of(cls, clock: Clock, stored_bytes: int) -> Kept:
        """The last step is the middle one of the last few."""
        last = clock.began[-LAST_STEPS - 1 :]
        each = [later - earlier for earlier, later in pairwise(last)]
        return cls(clock.done, clock.began[-1] - clock.began[0], median(each), stored_bytes)


class Keeper(Protocol):
    """A way to keep conversations on one store."""

    @property
    def what(self) -> str:
        """Its name in the results."""
        ...

    async def play(self, clock: Clock) -> Kept:
        """A new conversation: each step is a model call's message and a tool's result of 1 KB, each durable."""
        ...

    async def lose(self, messages: int) -> float:
        """Two writers add so many messages each to one thread; the part of the acknowledged ones that is not there."""
        ...


async def schema_bytes(url: str, schema: str) -> int:
    """All tables of a schema of PostgreSQL with their indexes, versions that nobody sees any more included."""
    connection = await asyncpg.connect(url)
    try:
        size = await connection.fetchval(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = to_regnamespace($1)",
            schema,
        )
    finally:
        await connection.close()
    return int(size)


async def by_two(messages: int, add: Callable[[int, int], Awaitable[object]]) -> int:
    """Two writers at once, each `add(writer, number)` so many times; how many were acknowledged."""
    acknowledged = 0

    async def one(writer: int) -> None:
        nonlocal acknowledged
        for number in range(messages):
            await add(writer, number)
            acknowledged += 1

    async with asyncio.TaskGroup() as writers:
        for writer in range(2):
            writers.create_task(one(writer))
    return acknowledged
