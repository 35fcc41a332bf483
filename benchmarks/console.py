"""What the console's pages ask of a gateway whose journal has 100,000 turns, against the same of one with 1,000, which
are enough to fill each page.

Both journals have as much under way: ten queued turns, twenty open questions. `one of few` is a user whose hundred
turns are older than all others. A ratio far from 1 is something that grows with the number of turns. Only the size of
the journal does so by its nature: it counts, and is asked for now and then.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.filling import RARE_USER, Filled, fill
from benchmarks.gateway_process import TENANT
from benchmarks.rounds import alternating
from benchmarks.servers import Asking, served
from benchmarks.stores import Store, postgres_server, postgres_store, sqlite_store

ROUNDS = 6
ASKED_A_ROUND = 10
MANY, FEW = 100_000, 1_000
MANY_QUICK = 10_000
TURNS, QUESTIONS, SESSIONS = "/v1/turns?limit=50", "/v1/interactions?limit=50", "/v1/sessions?limit=100"


@dataclass(frozen=True, slots=True)
class Side:
    """A gateway of a journal, and the paths that the pages ask of it by what they show."""

    asking: Asking
    paths: Mapping[str, str]

    async def ask(self, what: str) -> object:
        """Ask it."""
        return await self.asking.ask("GET", self.paths[what])


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    with postgres_server(bench.folder) as server:
        async with sqlite_store(bench.folder) as large, sqlite_store(bench.folder) as small:
            figures += await _measure(bench, large, small)
        async with postgres_store(server) as large, postgres_store(server) as small:
            figures += await _measure(bench, large, small)
    return Section("The console among many turns", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, large: Store, small: Store) -> list[Figure]:
    turns = MANY_QUICK if bench.quick else MANY
    many, few = await fill(large.journal, TENANT, turns), await fill(small.journal, TENANT, FEW)
    figures = []
    async with _asked(bench, large, many, "many") as ours, _asked(bench, small, few, "few") as theirs:
        for what in ours.paths:
            taken = await alternating(
                bench.rounds(ROUNDS), ASKED_A_ROUND, partial(ours.ask, what), partial(theirs.ask, what)
            )
            pair = [tuple(seconds * 1_000 for seconds in side) for side in taken]
            figures.append(Figure(f"{large.name}, {turns:,} turns: {what}", "ms", pair[0], f"{FEW:,} turns", pair[1]))
    return figures


@asynccontextmanager
async def _asked(bench: Bench, store: Store, filled: Filled, size: str) -> AsyncIterator[Side]:
    async with served(bench.folder / f"{store.name}-{size}.log", "benchmarks.gateway_process", store.url) as gateway:
        asking = await gateway.connect()
        yield Side(asking, await _paths(asking, filled))
        asking.close()


async def _paths(asking: Asking, filled: Filled) -> dict[str, str]:
    page = json.loads(await asking.ask("GET", TURNS))
    assert page["items"]
    assert page["next"]
    session = f"/v1/sessions/{filled.session.session}"
    of_user = f"user={filled.session.user}"
    return {
        "turns": TURNS,
        "turns, the next page": f"{TURNS}&after={quote(page['next'])}",
        **{f"turns, {status}": f"{TURNS}&status={status}" for status in ("queued", "running", "completed", "failed")},
        "turns of an agent": f"{TURNS}&agent=agent-3",
        "turns of nobody's agent": f"{TURNS}&agent=unknown",
        "turns of a user": f"{TURNS}&user=user-1",
        "turns of one of few": f"{TURNS}&user={RARE_USER}",
        "failed turns of one of few": f"{TURNS}&status=failed&user={RARE_USER}",
        "turns of a session": f"{TURNS}&session={filled.session.session}&{of_user}",
        "failed turns of a session": f"{TURNS}&status=failed&session={filled.session.session}&{of_user}",
        "inbox": QUESTIONS,
        "inbox, one kind": f"{QUESTIONS}&kind=approval",
        "inbox, failed turns": "/v1/turns?limit=20&phase=failed",
        "number of open questions": "/v1/interactions?limit=100",
        "sessions": SESSIONS,
        "sessions of a user": f"{SESSIONS}&{of_user}",
        "a session": f"{session}?{of_user}",
        "threads of a session": f"{session}/threads?limit=200&{of_user}",
        "a turn": f"/v1/turns/{filled.turn}",
        "a turn by the beginning of its id": f"/v1/turns-named?limit=2&beginning={filled.turn[:8]}",
        "system": "/v1/system",
        "system, the size of the journal": "/v1/system/journal",
    }
