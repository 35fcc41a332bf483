"""How long a turn stands still when its worker dies (SIGKILL) while a second one is idle on the queue, until the
first entry with a new ordinal or epoch; against plain Temporal workflows on workers with default settings
(sticky timeout 10 s, workflow task timeout 10 s, and a heartbeat timeout of 10 s on the activities).

Idle: the provider asked the turn to wait, no operation runs, and the worker that holds the workflow is killed
just before the wait is over; counted from its end. In a model call, in a tool call: counted from the kill. In a
local activity: the worker kills itself in it, so it dies with the workflow's task in its hands. Every kill is
of a real process, and a new one takes its place before the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from temporalio.client import Client as TemporalClient

from benchmarks.bench import Bench
from benchmarks.figures import Section, with_worst
from benchmarks.fleet import Fleet
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import sqlite_store
from benchmarks.victims import Ours, Theirs, Victims

KILLS = 30
LANES = 5
PEER = "bare workflow, default settings"
TASK_QUEUE = "takeover"
Once: TypeAlias = Callable[[Fleet], Awaitable[float]]
Taken: TypeAlias = dict[str, tuple[float, ...]]


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    kills = 3 if bench.quick else KILLS
    async with temporal_server(bench.folder) as temporal:
        async with sqlite_store(bench.folder) as store:
            ours = Ours(temporal, client_of(temporal, store.journal, TASK_QUEUE), await store.journal.journal_id())
            mine = await _taken(
                ours, kills, lambda env, size: our_workers(temporal, store, TASK_QUEUE, bench.folder, size, env)
            )
        theirs = await _theirs(temporal, kills, bench.folder)
    figures = [figure for case in mine for figure in with_worst(case, mine[case], PEER, theirs[case])]
    return Section("Takeover", (__doc__ or "").strip(), tuple(figures))


async def _taken(victims: Victims, kills: int, workers: Callable[[Mapping[str, str], int], Fleet]) -> Taken:
    """Each case, in a fleet of two; for what only the worker itself can do, one of them will do it."""
    async with workers({}, 2) as fleet:
        cases: dict[str, Once] = {
            "killed while idle": victims.idle,
            "killed in a model call": victims.calling,
            "killed in a tool call": victims.acting,
        }
        taken = {case: tuple([await _one(fleet, once) for _ in range(kills)]) for case, once in cases.items()}
    async with workers({}, 1) as taker, workers(victims.suicidal, 1) as doomed:
        del taker
        taken["killed in a local activity"] = tuple([await _one(doomed, victims.deciding) for _ in range(kills)])
    return taken


async def _one(fleet: Fleet, once: Once) -> float:
    seconds = await once(fleet)
    await fleet.fill()
    return seconds


async def _theirs(temporal: TemporalClient, kills: int, folder: Path) -> Taken:
    """In a few lanes at once: what is measured is time in which nothing happens."""
    lanes = min(LANES, kills)

    async def lane(number: int) -> Taken:
        queue, each = f"bare-{number}", len(range(number, kills, lanes))
        victims = Theirs(temporal, queue, folder)
        return await _taken(victims, each, lambda env, size: bare_workers(temporal, queue, folder, size, env))

    taken = await asyncio.gather(*(lane(number) for number in range(lanes)))
    return {case: tuple(seconds for one in taken for seconds in one[case]) for case in taken[0]}
