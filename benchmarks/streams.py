"""How long an entry takes from its command to those who follow its session through a gateway, 1 and 200 of them, and
what memory each of these costs; against a bare Starlette stream that writes the same bytes to as many.

Ours is counted from the call of `inject`, so the commit is in it; the peer's from the call that hands it the bytes.
All readers are in one process, for both, and read with the same few lines: with 200 the last is as much about them
as about the server. Memory is the server's process, before and with its readers.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.gateway_process import TENANT
from benchmarks.rounds import paired
from benchmarks.servers import Asking, Server, served
from benchmarks.stores import Store, stores
from turnwright.journal.commands import CreateSession, Inject
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import user

ROUNDS = 20
READERS = (1, 200)
ENTRY_BYTES = 1_000
HEARD_S_MAX = 30
KEY = ThreadKey(TENANT, None, "agent", "streams", "main")
PEER = "bare Starlette stream"
KIB = 1024


@dataclass(slots=True)
class Crowd:
    """Readers of one stream, and how to have something said on it."""

    server: Server
    readers: list[Asking]
    say: Callable[[], Awaitable[object]]
    bytes_each: float

    async def delays(self) -> list[float]:
        """Seconds from saying something until each reader has it."""
        began = time.perf_counter()

        async def heard(reader: Asking) -> float:
            while b"x" * 100 not in await reader.event():
                pass  # a sign of life
            return time.perf_counter() - began

        async with asyncio.timeout(HEARD_S_MAX):
            _, *delays = await asyncio.gather(self.say(), *(heard(reader) for reader in self.readers))
        return [float(delay) for delay in delays]  # type: ignore[arg-type] # the first is what was said

    def leave(self) -> None:
        """All of them go."""
        for reader in self.readers:
            reader.close()


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    async with stores(bench.folder) as both:
        for store in both:
            await store.journal.execute(KEY.session_key, CreateSession(request_id="create"))
            await store.journal.execute(KEY, Inject(request_id="open", message=user("first")))
            for readers in READERS:
                figures += await _measure(bench, store, readers)
    return Section("Followers of one session", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, store: Store, readers: int) -> list[Figure]:
    """Each number of readers has servers of its own, so that memory is counted from the same beginning."""
    log = bench.folder / f"{store.name}-{readers}"
    async with (
        served(log.with_suffix(".ours"), "benchmarks.gateway_process", store.url) as gateway,
        served(log.with_suffix(".bare"), "benchmarks.bare_http") as bare,
    ):
        ours = await _gathered(gateway, f"/v1/sessions/{KEY.session}/events?anonymous=true", readers, _injecting(store))
        theirs = await _gathered(bare, "/events", readers, await _handing(bare))
        who = "1 follower" if readers == 1 else f"{readers} followers"
        figures = []
        for what, pick in (("the middle one", median), ("the last one", max)) if readers > 1 else (("it", max),):
            pair = await paired(bench.rounds(ROUNDS), partial(_sample, ours, pick), partial(_sample, theirs, pick))
            figures.append(Figure(f"{store.name}: {who}, to {what}", "ms", pair[0], PEER, pair[1]))
        if readers > 1:
            memory = (ours.bytes_each / KIB,), (theirs.bytes_each / KIB,)
            figures.append(Figure(f"{store.name}: {who}, memory of each", "KiB", memory[0], PEER, memory[1]))
        ours.leave()
        theirs.leave()
    return figures


async def _sample(crowd: Crowd, pick: Callable[[list[float]], float]) -> float:
    return pick(await crowd.delays()) * 1000


async def _gathered(server: Server, path: str, readers: int, say: Callable[[], Awaitable[object]]) -> Crowd:
    first = await server.connect()
    await first.follow(path)  # what the first one brings up is nobody's own
    before = server.resident_bytes
    others = [await server.connect() for _ in range(readers - 1)]
    for reader in others:
        await reader.follow(path)
    crowd = Crowd(server, [first, *others], say, 0)
    await crowd.delays()
    crowd.bytes_each = (server.resident_bytes - before) / max(1, len(others))
    return crowd


def _injecting(store: Store) -> Callable[[], Awaitable[object]]:
    numbers = itertools.count(1)
    message = user("x" * ENTRY_BYTES)

    async def inject() -> None:
        request_id = f"{time.time_ns()}-{next(numbers)}"
        receipt = await store.journal.execute(KEY, Inject(request_id=request_id, message=message))
        assert receipt.status == "accepted", receipt

    return inject


async def _handing(bare: Server) -> Callable[[], Awaitable[object]]:
    asking = await bare.connect()
    event = b"event: entry\nid: 1\ndata: " + b"x" * ENTRY_BYTES + b"\n\n"
    return lambda: asking.ask("POST", "/event", event)
