"""A turn of 10,000 steps, and a thread of 1,000 turns, against a turn of 100 steps and a thread of 10 turns in the same
run: what a step or a turn leaves behind must not grow with how many there were.

This takes long, so it is measured only when it is named. Nothing is compacted: each model call is given the whole
conversation, whose length the time of a step follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.agents import AT_ONCE, LONG_STEPS
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.history import Left, Parts, left_by, left_in
from benchmarks.stack import Stack, temporal_server, working
from benchmarks.stores import sqlite_store
from turnwright.client.session import Session
from turnwright.client.turn import Turn

SHORT_STEPS = 100
TURNS = 1_000
SHORT_TURNS = 10
WAIT_S_MAX = 6 * 3_600


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    steps, turns = (1_000, 50) if bench.quick else (LONG_STEPS, TURNS)
    async with (
        temporal_server(bench.folder) as temporal,
        sqlite_store(bench.folder) as store,
        working(temporal, store, bench.folder) as stack,
    ):
        assert store.file is not None
        short = await left_by(stack, store.file, SHORT_STEPS)
        long = await left_by(stack, store.file, steps, WAIT_S_MAX)
        few = await _turns(stack, store.file, SHORT_TURNS)
        many = await _turns(stack, store.file, turns)
    figures = (
        *_figures(f"a turn of {steps:,} steps", "step", long, f"a turn of {SHORT_STEPS} steps", short),
        *_figures(f"a thread of {turns:,} turns", "turn", many, f"a thread of {SHORT_TURNS} turns", few),
    )
    return Section("Long turns and threads", (__doc__ or "").strip(), figures)


async def _turns(stack: Stack, file: Path, turns: int) -> Left:
    """So many turns on one thread, one after the other; Temporal's part is that of the last one."""

    async def carry_out(session: Session) -> Turn:
        turn = await session.submit("begin", agent=AT_ONCE.name)
        for _ in range(turns - 1):
            await turn.wait(WAIT_S_MAX)
            turn = await session.submit("begin", agent=AT_ONCE.name)
        await turn.wait(WAIT_S_MAX)
        return turn

    return await left_in(stack, file, f"turns-{turns}", carry_out, Parts(turns, 1))


@dataclass(frozen=True, slots=True)
class _Column:
    what: str
    unit: str
    field: str
    factor: float = 1


_COLUMNS = (
    _Column("Temporal events", "per {}", "events"),
    _Column("Temporal bytes", "B/{}", "history_bytes"),
    _Column("bytes of entries", "B/{}", "entry_bytes"),
    _Column("SQLite file", "B/{}", "file_bytes"),
    _Column("wall time", "ms/{}", "seconds", 1_000),
)


def _figures(name: str, each: str, long: Left, against: str, short: Left) -> list[Figure]:
    return [
        Figure(
            f"{name}: {column.what}",
            column.unit.format(each),
            (getattr(long, column.field) * column.factor,),
            against,
            (getattr(short, column.field) * column.factor,),
        )
        for column in _COLUMNS
    ]
