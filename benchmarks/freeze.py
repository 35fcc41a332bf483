"""How long a turn stands still when its worker hangs without dying (SIGSTOP) in a model call, until the next attempt;
against a plain Temporal workflow whose activity has a heartbeat timeout of 10 s, on workers with default settings.

The frozen process keeps its locks and its connections. Others take its call when the lease is over, 8 s by default.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import Client as TemporalClient

from benchmarks.agents import SILENT
from benchmarks.bare_worker import BareCalling
from benchmarks.bench import Bench
from benchmarks.figures import Section, with_worst
from benchmarks.fleet import Fleet
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import sqlite_store
from benchmarks.victims import Ours, Theirs, begun_again, entry_of
from benchmarks.workers_seen import who_calls
from turnwright.journal.entries import ModelRequested

FREEZES = 30
LANES = 5
PEER = "bare workflow, heartbeat timeout 10 s"


async def run(bench: Bench) -> Section:
    """Measure on SQLite, in lanes: what is measured is time in which nothing happens."""
    freezes = 3 if bench.quick else FREEZES
    async with temporal_server(bench.folder) as temporal:
        ours = await _in_lanes(freezes, lambda number, each: _ours(temporal, bench.folder, number, each))
        theirs = await _in_lanes(freezes, lambda number, each: _theirs(temporal, bench.folder, number, each))
    return Section(
        "A worker that hangs", (__doc__ or "").strip(), with_worst("frozen in a model call", ours, PEER, theirs)
    )


async def _in_lanes(times: int, lane: Callable[[int, int], Awaitable[list[float]]]) -> tuple[float, ...]:
    lanes = min(LANES, times)
    taken = await asyncio.gather(*(lane(number, len(range(number, times, lanes))) for number in range(lanes)))
    return tuple(seconds for one in taken for seconds in one)


async def _ours(temporal: TemporalClient, folder: Path, number: int, times: int) -> list[float]:
    queue = f"freeze-{number}"
    async with sqlite_store(folder) as store, our_workers(temporal, store, queue, folder, 2) as fleet:
        victims = Ours(temporal, client_of(temporal, store.journal, queue), await store.journal.journal_id())
        return [await _our_freeze(victims, fleet) for _ in range(times)]


async def _our_freeze(victims: Ours, fleet: Fleet) -> float:
    turn, workflow = await victims.begin(SILENT.name)
    await entry_of(turn, lambda entry: isinstance(entry.payload, ModelRequested))
    identity = await who_calls(workflow)
    frozen_s = fleet.freeze(identity)
    taken_s = await begun_again(turn) - frozen_s
    await fleet.kill(identity)
    await fleet.fill()
    return taken_s


async def _theirs(temporal: TemporalClient, folder: Path, number: int, times: int) -> list[float]:
    queue = f"bare-freeze-{number}"
    async with bare_workers(temporal, queue, folder, 2) as fleet:
        return [await _their_freeze(Theirs(temporal, queue, folder), fleet) for _ in range(times)]


async def _their_freeze(victims: Theirs, fleet: Fleet) -> float:
    workflow = await victims.start(BareCalling)
    identity = await who_calls(workflow)
    frozen_s = fleet.freeze(identity)
    taken_s = await workflow.result() - frozen_s
    await fleet.kill(identity)
    await fleet.fill()
    return taken_s
