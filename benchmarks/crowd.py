"""How long turns stand still when their worker dies (SIGKILL) among 200 that are active, while a second one is idle on
the queue; against as many plain Temporal workflows on workers with default settings, whose activities have a heartbeat
timeout of 10 s.

Half of them are in a silent model call, half in a tool call that hangs, and every kill leaves them to the other
worker. Beside them one turn waits, as a provider asked, and its worker is the one that is killed, just before the
wait is over: counted from its end, the others from the kill. In a local activity: ten turns are begun at once, a
third worker kills itself in the first claim of one, and the last of them to be claimed counts. Workers may run 400
activities at a time. The peer is killed a few times only.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from temporalio.client import Client as TemporalClient

from benchmarks.agents import HANGING, STILL
from benchmarks.bare_worker import ACTIVITIES_MAX, BareCalling
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section, with_worst
from benchmarks.fleet import Fleet, names
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import Store, sqlite_store
from benchmarks.victims import Ours, Theirs, begun_again
from benchmarks.workers_seen import who_calls
from turnwright.client.turn import Turn
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import ModelRequested, ToolStarted

TURNS = 200
KILLS = 30
THEIR_KILLS = 3
AT_ONCE = 400
BEGUN_AT_ONCE = 10
QUEUE = "crowd"
ALL_TAKEN_S_MAX = 120
ATTEMPTS_MAX = 3
PEER = "bare workflows in activities, default settings"
IDLE, CALLING, ACTING, DECIDING = "idle", "in model calls", "in tool calls", "in a local activity"


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    turns, kills, their_kills = (20, 3, 1) if bench.quick else (TURNS, KILLS, THEIR_KILLS)
    async with temporal_server(bench.folder) as temporal:
        async with sqlite_store(bench.folder) as store:
            ours = await _ours(bench, temporal, store, turns, kills)
        theirs = await _theirs(bench, temporal, turns, their_kills)
    figures: list[Figure] = []
    for case, taken in ours.items():
        figures += with_worst(f"killed {case}, {turns} turns active", tuple(taken), PEER, theirs)
    return Section("Takeover among many turns", (__doc__ or "").strip(), tuple(figures))


@dataclass(slots=True)
class _Member:
    """A turn of the crowd and how many attempts it has had."""

    turn: Turn
    kind: type[ModelRequested | ToolStarted]
    attempts: int = 0
    presence: str = ""

    async def next_attempt(self) -> float:
        """The time of day of the next one, once it is there; `presence` is whose it is."""
        self.attempts += 1
        seen = 0
        async with asyncio.timeout(ALL_TAKEN_S_MAX):
            async for entry in self.turn.events():
                if not isinstance(entry.payload, self.kind):
                    continue
                seen += 1
                if seen == self.attempts:
                    self.presence = entry.payload.presence
                    return entry.at_us / SECOND_US
        raise AssertionError(f"{self.turn} has ended")


async def _ours(bench: Bench, temporal: TemporalClient, store: Store, turns: int, kills: int) -> dict[str, list[float]]:
    env = {"TURNWRIGHT_MAX_CONCURRENT_ACTIVITIES": str(AT_ONCE)}
    taken: dict[str, list[float]] = {IDLE: [], CALLING: [], ACTING: [], DECIDING: []}
    victims = Ours(temporal, client_of(temporal, store.journal, QUEUE), await store.journal.journal_id())
    async with our_workers(temporal, store, QUEUE, bench.folder, 2, env) as fleet:
        crowd = [await _join(victims, number) for number in range(turns)]
        for member in crowd:
            await member.next_attempt()
        for _ in range(kills):
            await _kill(victims, store, fleet, crowd, taken)
            await fleet.fill()
            crowd = await _renewed(victims, crowd)
        async with our_workers(temporal, store, QUEUE, bench.folder, 1, env | dict(victims.suicidal)) as doomed:
            for _ in range(kills):
                taken[DECIDING].append(await victims.deciding(doomed, BEGUN_AT_ONCE))
                await doomed.fill()
    return taken


async def _join(victims: Ours, number: int) -> _Member:
    agent, kind = ((STILL, ModelRequested), (HANGING, ToolStarted))[number % 2]
    turn, _ = await victims.begin(agent.name)
    return _Member(turn, kind)


async def _renewed(victims: Ours, crowd: list[_Member]) -> list[_Member]:
    """The crowd with fresh turns for those that were struck often: a turn that never comes further fails in the end."""
    for place, member in enumerate(crowd):
        if member.attempts > ATTEMPTS_MAX:
            await member.turn.cancel()
            crowd[place] = await _join(victims, place)
    for member in crowd:
        if not member.attempts:
            await member.next_attempt()
    return crowd


async def _kill(victims: Ours, store: Store, fleet: Fleet, crowd: list[_Member], taken: dict[str, list[float]]) -> None:
    """Whose calls are struck is in the journal: Temporal's newest run need not be the one that has a call running."""
    pids = {seen.presence_id: seen.info["pid"] for seen in await store.journal.driver.presences()}
    waiting, identity, due_s = await victims.waits()
    killed_s = await fleet.kill(identity)
    struck = [member for member in crowd if names(identity, pids[member.presence])]
    taken[IDLE].append(await begun_again(waiting) - due_s)
    for member in struck:
        case = CALLING if member.kind is ModelRequested else ACTING
        taken[case].append(await member.next_attempt() - killed_s)


async def _theirs(bench: Bench, temporal: TemporalClient, turns: int, kills: int) -> tuple[float, ...]:
    taken: list[float] = []
    queue, env = f"bare-{QUEUE}", {ACTIVITIES_MAX: str(AT_ONCE)}
    victims = Theirs(temporal, queue, bench.folder)
    async with bare_workers(temporal, queue, bench.folder, 2, env) as fleet:
        for _ in range(kills):
            begun = [await victims.start(BareCalling) for _ in range(turns)]
            identities = [await who_calls(workflow) for workflow in begun]
            killed_s = await fleet.kill(identities[0])
            struck = [workflow for workflow, one in zip(begun, identities, strict=True) if one == identities[0]]
            taken += [seconds - killed_s for seconds in await asyncio.gather(*(one.result() for one in struck))]
            await asyncio.gather(*(one.terminate() for one in begun if one not in struck))
            await fleet.fill()
    return tuple(taken)
