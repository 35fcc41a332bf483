"""How long an entry takes from its time to those who follow its session over HTTP, 200 of them, while 50 turns run on
50 threads of that session; against a single follower of another such session, by turns.

The turns are carried out by a worker on a real Temporal. The time is the one that the entry bears, so its commit is in
the delay; both ends are read on the same machine. Worker, Temporal, gateway and two processes of readers share its
cores. Every reader must get every entry, each once and in order of position, or there is no result. Memory is that of
the gateway's process with its readers after the turns, against a bare Starlette stream that told the same bytes.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from benchmarks.agents import TURN
from benchmarks.audience import audience
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.servers import Server, served
from benchmarks.stack import Stack, temporal_server, working
from benchmarks.stores import Store, stores
from turnwright.client.session import Session
from turnwright.client.wire import dumped
from turnwright.journal.transact.reading import Located

ROUNDS = 3
SUBSCRIBERS, TURNS = 200, 50
SUBSCRIBERS_QUICK, TURNS_QUICK = 40, 20
TURNS_S_MAX = 120
LOOK_S = 0.1
PAGE_ENTRIES = 1_000
ALONE = "1 follower"
PEER = "bare Starlette stream"
KIB, MS_US = 1024, 1_000
PARTS = ((0.5, "to the middle of all receipts"), (0.99, "99 of 100 within"), (1.0, "the longest"))
_names = itertools.count(1)


@dataclass(slots=True)
class Heard:
    """What so many followers heard: delays of each round in microseconds, and bytes of memory for each of them."""

    delays_us: list[list[int]] = field(default_factory=list)
    bytes_each: list[float] = field(default_factory=list)

    def ms(self, part: float) -> tuple[float, ...]:
        """What so large a part of a round's receipts stay within, a sample a round."""
        return tuple(sorted(taken)[ceil(len(taken) * part) - 1] / MS_US for taken in self.delays_us)

    @property
    def kib(self) -> tuple[float, ...]:
        """Memory, a sample a round."""
        return tuple(value / KIB for value in self.bytes_each)


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    async with temporal_server(bench.folder) as temporal, stores(bench.folder) as both:
        for store in both:
            async with working(temporal, store, bench.folder, store.name) as stack:
                figures += await _measure(bench, stack, store)
    return Section("Subscribers while turns run", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, stack: Stack, store: Store) -> list[Figure]:
    many, one, bare = Heard(), Heard(), Heard()
    count, turns = (SUBSCRIBERS_QUICK, TURNS_QUICK) if bench.quick else (SUBSCRIBERS, TURNS)
    await _listen_to_turns(bench, stack, store, turns, 1, Heard())  # nothing is measured cold
    for number in range(bench.rounds(ROUNDS)):
        if number % 2:
            await _listen_to_turns(bench, stack, store, turns, 1, one)
        said = await _listen_to_turns(bench, stack, store, turns, count, many)
        if not number % 2:
            await _listen_to_turns(bench, stack, store, turns, 1, one)
        await _listen_to_bare(bench, said, count, bare)
    what = f"{store.name}: {turns} turns, {count} followers"
    figures = [Figure(f"{what}, {of}", "ms", many.ms(part), ALONE, one.ms(part)) for part, of in PARTS]
    return [*figures, Figure(f"{what}, memory of each", "KiB", many.kib, PEER, bare.kib)]


async def _listen_to_turns(
    bench: Bench, stack: Stack, store: Store, turns: int, count: int, heard: Heard
) -> list[Located]:
    """A session whose turns run while so many follow it; everything that happened there."""
    session = stack.client.session(None, f"session-{next(_names)}")
    await session.create()
    path = f"/v1/sessions/{session.key.session}/events?anonymous=true"
    begun = (await session.status()).last_position
    async with served(bench.folder / f"{store.name}.gateway", "benchmarks.gateway_process", store.url) as gateway:
        before = await _warmed(gateway, path)
        async with audience(gateway, path, count) as everybody:
            threads = [session.thread(TURN.name, f"thread-{number}") for number in range(turns)]
            await asyncio.gather(*(thread.submit("begin") for thread in threads))
            await _over(session)
            said = await session.history(begun, PAGE_ENTRIES)
            heard.delays_us.append(await everybody.heard(_positions(said)))
            heard.bytes_each.append((gateway.resident_bytes - before) / count)
    return said


async def _listen_to_bare(bench: Bench, said: Sequence[Located], count: int, heard: Heard) -> None:
    """The same, told to as many by a bare server."""
    async with served(bench.folder / "bare.log", "benchmarks.bare_http") as server:
        before = await _warmed(server, "/events")
        async with audience(server, "/events", count) as everybody:
            asking = await server.connect()
            for located in said:
                data = dumped(Located, located)
                event = b"id: %d\nevent: entry\ndata: %s\n\n" % (located.entry.position, data)
                await asking.ask("POST", "/event", event)
            await everybody.heard(_positions(said))
            heard.bytes_each.append((server.resident_bytes - before) / count)
            asking.close()


async def _warmed(server: Server, path: str) -> int:
    """The memory of a server that has had a follower: what the first one brings up is nobody's own."""
    asking = await server.connect()
    await asking.follow(path)
    before = server.resident_bytes
    asking.close()
    return before


async def _over(session: Session) -> None:
    """Wait until all turns have ended."""
    async with asyncio.timeout(TURNS_S_MAX):
        while (seen := await session.status()).active or seen.queued:  # noqa: ASYNC110 - who waited for each turn would read with them
            await asyncio.sleep(LOOK_S)


def _positions(said: Sequence[Located]) -> list[int]:
    return [located.entry.position for located in said]
