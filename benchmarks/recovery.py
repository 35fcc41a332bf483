"""How long 1,000 turns take to end after Temporal was lost with all it knew, and every worker with it; against as many
fresh turns of the same agent that nothing happened to.

Every turn is in a model call when all workers are killed, Temporal is killed and its data is deleted. Then an
empty Temporal and two new workers are started, and it is counted from the moment both take work to the end of the
last turn. A plain workflow has no peer here: what it was is gone with Temporal.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchmarks.agents import AT_ONCE, SILENT
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.stack import client_of, our_workers
from benchmarks.stores import sqlite_store
from benchmarks.victims import Ours, entry_of
from turnwright.client.turn import Turn
from turnwright.journal.entries import ModelRequested
from turnwright.worker.temporal_server import TemporalServer

TURNS = 1_000
SUBMITS_AT_ONCE = 20
BEGUN_S_MAX = 900
FRESH = "as many fresh turns"


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    turns = 50 if bench.quick else TURNS
    env = {"TURNWRIGHT_MAX_CONCURRENT_ACTIVITIES": str(turns)}
    server = TemporalServer(bench.folder / "temporal.db", log_file=bench.folder / "temporal.log")
    async with server, sqlite_store(bench.folder) as store:
        temporal = await server.connect()
        mine = Ours(temporal, client_of(temporal, store.journal, "recovery"), await store.journal.journal_id())
        async with our_workers(temporal, store, "recovery", bench.folder, 2, env) as fleet:
            lost = await _submit(mine, SILENT.name, turns)
            for turn in lost:
                await entry_of(turn, lambda entry: isinstance(entry.payload, ModelRequested), BEGUN_S_MAX)
            await fleet.kill_all()
        server.kill()
        server.erase()
        await server.start()
        async with our_workers(temporal, store, "recovery", bench.folder, 2, env):
            recovered_s = await _ended_s(lost, time.perf_counter())
            began_s = time.perf_counter()
            fresh_s = await _ended_s(await _submit(mine, AT_ONCE.name, turns), began_s)
    figures = (
        Figure(f"{turns:,} turns recovered", "s", (recovered_s,), FRESH, (fresh_s,)),
        Figure("rate", "turns/s", (turns / recovered_s,), FRESH, (turns / fresh_s,)),
    )
    return Section("Recovery after the loss of Temporal", (__doc__ or "").strip(), figures)


async def _submit(mine: Ours, agent: str, turns: int) -> list[Turn]:
    slots = asyncio.Semaphore(SUBMITS_AT_ONCE)

    async def one() -> Turn:
        async with slots:
            return (await mine.begin(agent))[0]

    return list(await asyncio.gather(*(one() for _ in range(turns))))


async def _ended_s(turns: Sequence[Turn], since_s: float) -> float:
    for turn in turns:
        await turn.wait()
    return time.perf_counter() - since_s
