"""Rounds: ours and theirs by turns, so that whatever else the machine does falls on both.

Rule: nothing is measured cold, the order is swapped at each round, and garbage is collected before a
sample, not within it. On a slow machine a figure gets fewer rounds, not more time.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from typing import TypeAlias

FIGURE_S_MAX = 20
ROUNDS_MIN = 3

Sample: TypeAlias = Callable[[], Awaitable[float]]
Act: TypeAlias = Callable[[], Awaitable[object]]


async def paired(rounds: int, ours: Sample, theirs: Sample) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """One sample of each a round, after one of each that is thrown away."""
    taken: dict[int, list[float]] = {0: [], 1: []}
    for number in _bounded(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            gc.collect()
            sample = await (ours, theirs)[which]()
            if number:
                taken[which].append(sample)
    return tuple(taken[0]), tuple(taken[1])


async def timed(act: Act) -> float:
    """Seconds it took."""
    started = time.perf_counter()
    await act()
    return time.perf_counter() - started


async def alternating(rounds: int, each: int, ours: Act, theirs: Act) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """`rounds` pairs of medians in seconds, each of `each` acts that alternate one by one."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in _bounded(rounds):
        gc.collect()
        seconds = [(await timed(ours), await timed(theirs)) for _ in range(each)]
        if number:
            taken[0].append(median(own for own, _ in seconds))
            taken[1].append(median(other for _, other in seconds))
    return tuple(taken[0]), tuple(taken[1])


async def together(streams: int, each: int, act: Callable[[int, int], Awaitable[object]]) -> float:
    """Run `act(stream, number)` `each` times in each of so many streams at once; acts per second."""

    async def one(stream: int) -> None:
        for number in range(each):
            await act(stream, number)

    seconds = await timed(lambda: asyncio.gather(*(one(stream) for stream in range(streams))))
    return streams * each / seconds


def _bounded(rounds: int) -> Iterator[int]:
    """0 for the round that is thrown away, then the numbers of the others, until the time is over."""
    began_s = time.monotonic()
    for number in range(rounds + 1):
        if number > ROUNDS_MIN and time.monotonic() - began_s > FIGURE_S_MAX:
            return
        yield number
