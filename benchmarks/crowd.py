"""How long each of 200 turns stands still when the worker that carries them out is killed (SIGKILL) while a second one
is idle on the queue, until its next attempt; against 200 plain Temporal workflows on workers with default settings,
whose activities have a heartbeat timeout of 10 s.

All of them are in a silent model call. Every kill leaves all turns to the other worker, and a new one takes the
place of the killed. Both kinds of workers may run 400 activities at a time. The peer is killed a few times only.
"""

from __future__ import annotations

import asyncio

from temporalio.client import Client as TemporalClient

from benchmarks.agents import STILL
from benchmarks.bare_worker import ACTIVITIES_MAX, BareCalling
from benchmarks.bench import Bench
from benchmarks.figures import Section, with_worst
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import sqlite_store
from benchmarks.victims import Ours, Theirs
from benchmarks.workers_seen import who_calls
from turnwright.client.turn import Turn
from turnwright.journal.entries import ModelRequested

TURNS = 200
KILLS = 30
THEIR_KILLS = 3
AT_ONCE = 400
POLL_S = 0.2
ALL_TAKEN_S_MAX = 120
PEER = "bare workflows, default settings"


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    turns, kills, their_kills = (20, 3, 1) if bench.quick else (TURNS, KILLS, THEIR_KILLS)
    async with temporal_server(bench.folder) as temporal:
        ours = await _ours(bench, temporal, turns, kills)
        theirs = await _theirs(bench, temporal, turns, their_kills)
    what = f"killed with {turns} turns in model calls"
    return Section("Takeover of many turns", (__doc__ or "").strip(), with_worst(what, ours, PEER, theirs))


async def _ours(bench: Bench, temporal: TemporalClient, turns: int, kills: int) -> tuple[float, ...]:
    env = {"TURNWRIGHT_MAX_CONCURRENT_ACTIVITIES": str(AT_ONCE)}
    taken: list[float] = []
    async with (
        sqlite_store(bench.folder) as store,
        our_workers(temporal, store, "crowd", bench.folder, 2, env) as fleet,
    ):
        victims = Ours(temporal, client_of(temporal, store.journal, "crowd"), await store.journal.journal_id())
        begun = [await victims.begin(STILL.name) for _ in range(turns)]
        attempts = [await _attempts(turn, 1) for turn, _ in begun]
        for _ in range(kills):
            identities = [await who_calls(workflow) for _, workflow in begun]
            killed_s = await fleet.kill(identities[0])
            struck = [n for n, identity in enumerate(identities) if identity == identities[0]]
            for n in struck:
                attempts[n] = await _attempts(begun[n][0], len(attempts[n]) + 1)
            taken += [attempts[n][-1] - killed_s for n in struck]
            await fleet.fill()
    return tuple(taken)


async def _attempts(turn: Turn, count: int) -> list[float]:
    """The times of day of the turn's attempts, once there are so many."""
    async with asyncio.timeout(ALL_TAKEN_S_MAX):
        found: list[float] = []
        async for entry in turn.events():
            if isinstance(entry.payload, ModelRequested):
                found.append(entry.at_us / 1_000_000)
            if len(found) == count:
                return found
    raise AssertionError(f"{turn} has ended")


async def _theirs(bench: Bench, temporal: TemporalClient, turns: int, kills: int) -> tuple[float, ...]:
    taken: list[float] = []
    env = {ACTIVITIES_MAX: str(AT_ONCE)}
    victims = Theirs(temporal, "bare-crowd", bench.folder)
    async with bare_workers(temporal, "bare-crowd", bench.folder, 2, env) as fleet:
        for _ in range(kills):
            begun = [await victims.start(BareCalling) for _ in range(turns)]
            identities = [await who_calls(workflow) for workflow in begun]
            killed_s = await fleet.kill(identities[0])
            struck = [workflow for workflow, one in zip(begun, identities, strict=True) if one == identities[0]]
            taken += [seconds - killed_s for seconds in await asyncio.gather(*(one.result() for one in struck))]
            await asyncio.gather(*(one.terminate() for one in begun if one not in struck))
            await fleet.fill()
    return tuple(taken)
