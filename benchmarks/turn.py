"""A turn of two model calls and one tool call, from `submit` to the end as its caller sees it, against a
plain Temporal workflow with the same three activities and no journal.

Model and tool answer at once. Caller and worker are two processes, for both. With 32 threads each thread's
caller submits its next turn when it has seen the end of the last; the figure is the wall time by turns.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

from temporalio.client import Client as TemporalClient

from benchmarks.agents import TURN
from benchmarks.bare import BareTurn, BareWorkflow
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.rounds import paired, together
from benchmarks.stack import Stack, bare_workers, temporal_server, working
from benchmarks.stores import Store, stores
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn

ROUNDS = 10
THREADS = (1, 32)
TURNS_PER_ROUND = {1: 5, 32: 2}
WAIT_S_MAX = 60
SETTLE_S = 0.5
BARE_QUEUE = "bare"
_names = itertools.count(1)


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures = []
    async with (
        temporal_server(bench.folder) as temporal,
        stores(bench.folder) as both,
        bare_workers(temporal, BARE_QUEUE, bench.folder, 1),
    ):
        for store in both:
            async with working(temporal, store, bench.folder, store.name) as stack:
                figures += [await _measure(bench, store, stack, threads) for threads in THREADS]
    return Section("A turn", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, store: Store, stack: Stack, count: int) -> Figure:
    threads = [await new_thread(stack) for _ in range(count)]
    each = TURNS_PER_ROUND[count]

    async def ours(stream: int, _: int) -> None:
        await carried_out(threads[stream])

    async def theirs(_: int, __: int) -> None:
        await _bare(stack.temporal)

    rounds = bench.rounds(ROUNDS)
    taken = await paired(rounds, lambda: ms_per_turn(count, each, ours), lambda: ms_per_turn(count, each, theirs))
    what = f"{store.name}: {count} thread{'s' if count > 1 else ''}"
    return Figure(what, "ms/turn", taken[0], "bare Temporal workflow", taken[1])


async def carried_out(thread: Thread) -> Turn:
    """A turn of it that has ended well."""
    turn = await thread.submit("begin")
    view = await turn.wait(WAIT_S_MAX)
    assert view.phase == "completed", view
    return turn


async def new_thread(stack: Stack) -> Thread:
    """A thread of the measured agent, in a session of its own."""
    session = stack.client.session(None, f"session-{next(_names)}")
    await session.create()
    return session.thread(TURN.name)


async def _bare(temporal: TemporalClient) -> None:
    await temporal.execute_workflow(
        BareWorkflow.run, BareTurn(steps=1), id=f"bare-{next(_names)}", task_queue=BARE_QUEUE
    )


async def ms_per_turn(threads: int, each: int, act: Callable[[int, int], Awaitable[object]]) -> float:
    """What a turn took, of `each` in each of so many threads at once."""
    await asyncio.sleep(SETTLE_S)  # a turn's workflow closes after its caller has seen the end
    return 1000 / await together(threads, each, act)
