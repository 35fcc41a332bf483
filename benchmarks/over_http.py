"""How many status reads and how many submits a second a gateway answers, against a bare Starlette route that gives the
same bytes; and its submits against those of the direct client, which needs no gateway.

Gateway and bare server run on uvicorn, each in a process of its own, and are asked over 1, 16 and 64 connections that
stay open, a second at a time. The gateway reads the turn from the journal each time; each submit has an
`Idempotency-Key` of its own and is committed when it is answered. The direct client runs in this process, as many
submits at once as there are connections. Nobody is woken for these turns.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.gateway_process import TENANT
from benchmarks.load import DRIVER, REQUESTS_A_BATCH, Load, rate, repeated
from benchmarks.rounds import paired
from benchmarks.servers import Asking, Server, served
from benchmarks.stores import Store, stores
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.client.settings import ClientSettings

ROUNDS = 4
CONNECTIONS = (1, 16, 64)
SESSION, AGENT = "http", "agent"
INPUT = "x" * 300
BODY = json.dumps({"input": INPUT})
PEER = "bare Starlette route"
_names = itertools.count(1)


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    async with stores(bench.folder) as both, served(bench.folder / "bare.log", "benchmarks.bare_http") as bare:
        for store in both:
            log = bench.folder / f"gateway-{store.name}.log"
            async with served(log, "benchmarks.gateway_process", store.url) as gateway:
                sides = await Sides.of(bench, store, gateway, bare)
                for connections in CONNECTIONS:
                    figures += await sides.measure(connections)
    return Section("Status and submit over HTTP", f"{(__doc__ or '').strip()}\n\nAsked by {DRIVER}.", tuple(figures))


@dataclass(frozen=True, slots=True)
class Sides:
    """A gateway of a store, a bare server, and a client of the same store."""

    bench: Bench
    store: Store
    gateway: Server
    bare: Server
    session: Session
    turn: str

    @classmethod
    async def of(cls, bench: Bench, store: Store, gateway: Server, bare: Server) -> Sides:
        """With a session, and a turn to be read in it."""
        session = Client.of(store.journal, ClientSettings(tenant=TENANT, wake=False)).session(None, SESSION)
        await session.create()
        turn = await session.submit(INPUT, agent=AGENT)
        return cls(bench, store, gateway, bare, session, turn.id)

    async def measure(self, connections: int) -> list[Figure]:
        """Reads against the bare route, submits against the bare route and against the direct client."""
        what = f"{self.store.name}, {connections} connection{'s' if connections > 1 else ''}"
        status = f"/v1/turns/{self.turn}"
        await self._like(await self._asked("GET", status))
        reads = await self._paired(
            lambda: self._rate(self.gateway, Load("read", status), connections),
            lambda: self._rate(self.bare, Load("read", "/answer"), connections),
        )
        await self._like(await self._asked("POST", _path(_new()), BODY))
        submits = await self._paired(
            lambda: self._submits(connections),
            lambda: self._rate(self.bare, Load("submit", "/answer", "POST", BODY), connections),
        )
        direct = await self._paired(lambda: self._submits(connections), lambda: self._direct(connections))
        return [
            Figure(f"{what}: status", "reads/s", reads[0], PEER, reads[1]),
            Figure(f"{what}: submit", "submits/s", submits[0], PEER, submits[1]),
            Figure(f"{what}: submit", "submits/s", direct[0], "the direct client", direct[1]),
        ]

    def _paired(
        self, ours: Callable[[], Awaitable[float]], theirs: Callable[[], Awaitable[float]]
    ) -> Awaitable[tuple[tuple[float, ...], tuple[float, ...]]]:
        return paired(self.bench.rounds(ROUNDS), ours, theirs)

    async def _rate(self, server: Server, load: Load, connections: int) -> float:
        return await rate(server, load, connections, self.bench.folder)

    async def _submits(self, connections: int) -> float:
        name = _new()
        return await self._rate(self.gateway, Load(name, _path(f"{name}-BATCH"), "POST", BODY), connections)

    async def _direct(self, connections: int) -> float:
        name, numbers = _new(), itertools.count(1)

        async def submit(_: int) -> None:
            number = next(numbers)
            thread = self.session.thread(AGENT, f"{name}-{number // REQUESTS_A_BATCH}")
            await thread.submit(INPUT, request_id=f"{name}-{number}")

        return await repeated(connections, submit)

    async def _asked(self, method: str, path: str, body: str = "") -> bytes:
        return await _once(self.gateway, lambda asking: asking.ask(method, path, body.encode()))

    async def _like(self, answer: bytes) -> None:
        """Let the bare server give the same bytes."""
        await _once(self.bare, lambda asking: asking.ask("PUT", "/answer", answer))


async def _once(server: Server, act: Callable[[Asking], Awaitable[bytes]]) -> bytes:
    asking = await server.connect()
    try:
        return await act(asking)
    finally:
        asking.close()


def _path(thread: str) -> str:
    return f"/v1/sessions/{SESSION}/threads/{AGENT}/{thread}/turns"


def _new() -> str:
    """A name for a thread that has no queue yet."""
    return f"run-{next(_names)}"
