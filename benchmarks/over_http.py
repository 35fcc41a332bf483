"""How many status reads a second a gateway answers, against a bare Starlette route that gives the same bytes.

Both run on uvicorn, each in a process of its own, and are asked over 1 and 16 connections that stay open. The gateway
reads the turn from the journal each time.
"""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.gateway_process import TENANT
from benchmarks.rounds import paired, together
from benchmarks.servers import Asking, Server, served
from benchmarks.stores import Store, stores
from turnwright.journal.commands import CreateSession, Submit
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user

ROUNDS = 10
CONNECTIONS = (1, 16)
READS_PER_ROUND = {1: 400, 16: 40}
KEY = ThreadKey(TENANT, None, "agent", "http", "main")
PEER = "bare Starlette route"


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    async with stores(bench.folder) as both, served(bench.folder / "bare.log", "benchmarks.bare_http") as bare:
        for store in both:
            turn = await _submitted(store)
            log = bench.folder / f"gateway-{store.name}.log"
            async with served(log, "benchmarks.gateway_process", store.url) as gateway:
                path = f"/v1/turns/{turn}"
                await _say(bare, await _read(gateway, path))
                figures += [await _measure(bench, store, gateway, bare, path, each) for each in CONNECTIONS]
    return Section("Status over HTTP", (__doc__ or "").strip(), tuple(figures))


async def _submitted(store: Store) -> str:
    await store.journal.execute(KEY.session_key, CreateSession(request_id="create"))
    turn = turn_id(KEY, "request")
    await store.journal.execute(KEY, Submit(request_id="request", turn_id=turn, input=user("x" * 300)))
    return turn


async def _read(server: Server, path: str) -> bytes:
    asking = await server.connect()
    try:
        return await asking.ask("GET", path)
    finally:
        asking.close()


async def _say(bare: Server, answer: bytes) -> None:
    asking = await bare.connect()
    await asking.ask("PUT", "/answer", answer)
    asking.close()


async def _measure(bench: Bench, store: Store, gateway: Server, bare: Server, path: str, connections: int) -> Figure:
    ours = [await gateway.connect() for _ in range(connections)]
    theirs = [await bare.connect() for _ in range(connections)]
    each = READS_PER_ROUND[connections]
    rates = await paired(bench.rounds(ROUNDS), lambda: _rate(ours, path, each), lambda: _rate(theirs, "/answer", each))
    for asking in (*ours, *theirs):
        asking.close()
    what = f"{store.name}: {connections} connection{'s' if connections > 1 else ''}"
    return Figure(what, "reads/s", rates[0], PEER, rates[1])


async def _rate(asking: list[Asking], path: str, each: int) -> float:
    return await together(len(asking), each, lambda stream, _: asking[stream].ask("GET", path))
