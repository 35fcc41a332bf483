"""The receipt of `submit` against a bare INSERT of as many bytes, one by one, on both stores.

Each sample is the median of many submits that alternate with INSERTs. A new thread is opened by its first
submit (two more rows); after that a submit joins a queue.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.rounds import alternating
from benchmarks.stores import Store, stores
from turnwright.journal.commands import CreateSession, Submit
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user

ROUNDS = 20
SUBMITS_PER_ROUND = 40
INPUT_BYTES = 300
ROW_BYTES = 1_000


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures = []
    async with stores(bench.folder) as both:
        for store in both:
            figures.append(await _measure(bench, store, "submit to a new thread", _opening))
            figures.append(await _measure(bench, store, "submit to a thread with a queue", _queueing))
    return Section("The receipt of `submit`", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, store: Store, what: str, key_of: Callable[[int], ThreadKey]) -> Figure:
    numbers = itertools.count(1)
    body = bytes(ROW_BYTES)

    async def submit() -> None:
        number = next(numbers)
        key, request = key_of(number), f"request-{what}-{number}"
        receipt = await store.journal.execute(
            key, Submit(request_id=request, turn_id=turn_id(key, request), input=user("x" * INPUT_BYTES))
        )
        assert receipt.status == "accepted", receipt

    def insert() -> Awaitable[None]:
        return store.floor.insert(body)

    await store.journal.execute(key_of(1).session_key, CreateSession(request_id=f"create-{what}"))
    ours, theirs = await alternating(bench.rounds(ROUNDS), SUBMITS_PER_ROUND, submit, insert)
    return Figure(f"{store.name}: {what}", "ms", _ms(ours), store.floor.what, _ms(theirs))


def _opening(number: int) -> ThreadKey:
    return ThreadKey("bench", None, "agent", "submit-opening", f"thread-{number}")


def _queueing(number: int) -> ThreadKey:
    # A queue takes a thousand turns, so a thread is left after some hundred.
    return ThreadKey("bench", None, "agent", "submit-queueing", f"thread-{number // 500}")


def _ms(seconds: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(value * 1000 for value in seconds)
