"""How long a turn stands still when its worker is killed (SIGKILL) and a second one is idle on the queue,
until the first entry with a new ordinal or epoch; against plain Temporal workflows on a worker with default
settings (sticky timeout 10 s, and a heartbeat timeout of 10 s on the activity).

Idle: the provider asked the turn to wait, no operation runs, and the worker that holds the workflow is
killed just before the wait is over; counted from its end. In a call: killed during a model call; counted
from the kill. Each kill is of a real process, and a new one takes its place before the next.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from temporalio.client import Client as TemporalClient

from benchmarks.agents import SILENT, WAIT_S, WAITING
from benchmarks.bare_worker import BareCalling, BareWaiting
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.fleet import Fleet
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import Store, sqlite_store
from benchmarks.workers_seen import AnyHandle, who_calls, who_waits
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.entries import Entry, ModelFailed, ModelRequested, RunClaimed
from turnwright.workflows.ids import turn_workflow_id

KILLS = 20
LANES = 5
TAKEOVER_S_MAX = 60
TASK_QUEUE = "takeover"
IDLE, CALLING = "killed while idle", "killed in a model call"
Taken: TypeAlias = dict[str, tuple[float, ...]]
_names = itertools.count(1)


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    kills = 3 if bench.quick else KILLS
    async with temporal_server(bench.folder) as temporal:
        async with sqlite_store(bench.folder) as store:
            ours = await _ours(temporal, store, kills, bench.folder)
        theirs = await _theirs(temporal, kills, bench.folder)
    peer = "bare workflow, default settings"
    figures = [Figure(case, "s", ours[case], peer, theirs[case], paired=False) for case in (IDLE, CALLING)]
    return Section("Takeover", (__doc__ or "").strip(), tuple(figures))


async def _ours(temporal: TemporalClient, store: Store, kills: int, folder: Path) -> Taken:
    victims = Ours(temporal, client_of(temporal, store.journal, TASK_QUEUE), await store.journal.journal_id())
    async with our_workers(temporal, store, TASK_QUEUE, folder, 2) as fleet:
        return {IDLE: await _kill(fleet, kills, victims.idle), CALLING: await _kill(fleet, kills, victims.calling)}


async def _theirs(temporal: TemporalClient, kills: int, folder: Path) -> Taken:
    """In a few lanes at once: what is measured is time in which nothing happens."""
    lanes = min(LANES, kills)

    async def lane(number: int) -> Taken:
        queue, each = f"bare-{number}", len(range(number, kills, lanes))
        victims = Theirs(temporal, queue)
        async with bare_workers(temporal, queue, folder, 2) as fleet:
            return {IDLE: await _kill(fleet, each, victims.idle), CALLING: await _kill(fleet, each, victims.calling)}

    taken = await asyncio.gather(*(lane(number) for number in range(lanes)))
    return {case: tuple(seconds for one in taken for seconds in one[case]) for case in (IDLE, CALLING)}


async def _kill(fleet: Fleet, kills: int, once: Callable[[Fleet], Awaitable[float]]) -> tuple[float, ...]:
    taken = []
    for _ in range(kills):
        taken.append(await once(fleet))
        await fleet.fill()
    return tuple(taken)


@dataclass(frozen=True, slots=True)
class Ours:
    """Turns whose worker is killed."""

    temporal: TemporalClient
    client: Client
    journal_id: str

    async def idle(self, fleet: Fleet) -> float:
        """Seconds from the end of a wait to the next attempt."""
        turn, workflow = await self._begin(WAITING.name)
        await _entry(turn, lambda entry: isinstance(entry.payload, ModelFailed))
        identity, due_s = await who_waits(workflow)
        await fleet.kill(identity)
        return await _begun_again(turn) - due_s

    async def calling(self, fleet: Fleet) -> float:
        """Seconds from the kill to the next attempt."""
        turn, workflow = await self._begin(SILENT.name)
        await _entry(turn, lambda entry: isinstance(entry.payload, ModelRequested))
        killed_s = await fleet.kill(await who_calls(workflow))
        return await _begun_again(turn) - killed_s

    async def _begin(self, agent: str) -> tuple[Turn, AnyHandle]:
        session = self.client.session(None, f"takeover-{next(_names)}")
        await session.create()
        turn = await session.submit("begin", agent=agent)
        return turn, self.temporal.get_workflow_handle(turn_workflow_id(self.journal_id, turn.key, turn.id))


@dataclass(frozen=True, slots=True)
class Theirs:
    """Plain workflows whose worker is killed."""

    temporal: TemporalClient
    queue: str

    async def idle(self, fleet: Fleet) -> float:
        """Seconds from the end of a wait to the next call."""
        name = f"takeover-{next(_names)}"
        workflow = await self.temporal.start_workflow(BareWaiting.run, WAIT_S, id=name, task_queue=self.queue)
        identity, due_s = await who_waits(workflow)
        await fleet.kill(identity)
        return await workflow.result() - due_s

    async def calling(self, fleet: Fleet) -> float:
        """Seconds from the kill to the next attempt."""
        name = f"takeover-{next(_names)}"
        workflow = await self.temporal.start_workflow(BareCalling.run, id=name, task_queue=self.queue)
        killed_s = await fleet.kill(await who_calls(workflow))
        return await workflow.result() - killed_s


async def _entry(turn: Turn, wanted: Callable[[Entry], bool]) -> Entry:
    async with asyncio.timeout(TAKEOVER_S_MAX):
        async for entry in turn.events():
            if wanted(entry):
                return entry
    raise AssertionError(f"{turn} has ended without what was waited for")


async def _begun_again(turn: Turn) -> float:
    """The time of day of the turn's first entry with a new epoch or ordinal."""
    first = await _entry(turn, lambda entry: isinstance(entry.payload, RunClaimed))

    def again(entry: Entry) -> bool:
        newer = entry.epoch is not None and first.epoch is not None and entry.epoch > first.epoch
        return newer or (isinstance(entry.payload, ModelRequested) and entry.payload.ordinal > 1)

    return (await _entry(turn, again)).at_us / 1_000_000
