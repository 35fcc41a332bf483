"""What a step (a model call and a tool call with a result of 1 KB) leaves behind, in turns of 10, 100 and
1,000 steps.

Temporal's part is counted over all runs of the turn's workflow, in events and in the bytes of their
protocol buffers, against two plain workflows with the same activities: one that keeps no conversation at
all, which is the floor, and one that passes it to each model call, which at 1,000 steps would need more than
the 50 MB a history may have. The journal's part is the bytes of the entries' bodies, and of the whole SQLite
file with its checkpoints; it is held against the bytes a step really says (arguments and result).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client as TemporalClient

from benchmarks.agents import RESULT_BYTES, STEPS, steps_agent
from benchmarks.bare import BareTurn, BareWorkflow
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.stack import Stack, bare_workers, temporal_server, working
from benchmarks.stores import sqlite_store
from turnwright.client.session import Session
from turnwright.client.turn import Turn
from turnwright.workflows.ids import turn_workflow_id

WAIT_S_MAX = 600
CARRYING_STEPS_MAX = 100
BARE_QUEUE = "bare"


@dataclass(frozen=True, slots=True)
class Left:
    """What a turn left behind, by step."""

    events: float
    history_bytes: float
    seconds: float
    entry_bytes: float = 0
    file_bytes: float = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """By how many what is left behind is divided: the journal's and the time, and Temporal's of the last turn."""

    whole: int
    last_turn: int


async def run(bench: Bench) -> Section:
    """Measure on SQLite; Temporal's part is the same on every store."""
    figures: list[Figure] = []
    async with (
        temporal_server(bench.folder) as temporal,
        sqlite_store(bench.folder) as store,
        working(temporal, store, bench.folder) as stack,
        bare_workers(temporal, BARE_QUEUE, bench.folder, 1),
    ):
        assert store.file is not None
        for steps in STEPS[:2] if bench.quick else STEPS:
            figures += await _measure(stack, store.file, steps)
    return Section("What a step leaves behind", (__doc__ or "").strip(), tuple(figures))


async def _measure(stack: Stack, file: Path, steps: int) -> list[Figure]:
    ours = await left_by(stack, file, steps)
    floor = await _bare(stack.temporal, BareTurn(steps, carry=False))
    kept, said = "bare workflow without a conversation", "bytes said in the step"
    carried = "bare workflow that passes the conversation"
    figures = [
        Figure(f"{steps:,} steps: Temporal events", "per step", (ours.events,), kept, (floor.events,)),
        Figure(f"{steps:,} steps: Temporal bytes", "B/step", (ours.history_bytes,), kept, (floor.history_bytes,)),
        Figure(f"{steps:,} steps: wall time", "ms/step", (ours.seconds * 1000,), kept, (floor.seconds * 1000,)),
        Figure(f"{steps:,} steps: bytes of entries", "B/step", (ours.entry_bytes,), said, (RESULT_BYTES,)),
        Figure(f"{steps:,} steps: SQLite file", "B/step", (ours.file_bytes,), said, (RESULT_BYTES,)),
    ]
    if steps <= CARRYING_STEPS_MAX:
        peer = await _bare(stack.temporal, BareTurn(steps))
        what = f"{steps:,} steps: Temporal bytes"
        figures.insert(2, Figure(what, "B/step", (ours.history_bytes,), carried, (peer.history_bytes,)))
        what = f"{steps:,} steps: wall time"
        figures.insert(4, Figure(what, "ms/step", (ours.seconds * 1000,), carried, (peer.seconds * 1000,)))
    return figures


async def left_by(stack: Stack, file: Path, steps: int, wait_s: float = WAIT_S_MAX) -> Left:
    """Carry out a turn of so many steps in a session of its own."""

    async def carry_out(session: Session) -> Turn:
        turn = await session.submit("begin", agent=steps_agent(steps))
        view = await turn.wait(wait_s)
        assert view.phase == "completed", view
        return turn

    return await left_in(stack, file, f"steps-{steps}", carry_out, Parts(steps, steps))


async def left_in(
    stack: Stack, file: Path, name: str, carry_out: Callable[[Session], Awaitable[Turn]], parts: Parts
) -> Left:
    """What a session of its own leaves behind; `carry_out` gives its last turn, which has ended."""
    session = stack.client.session(None, name)
    await session.create()
    before, started = size_of(file), time.perf_counter()
    turn = await carry_out(session)
    seconds = time.perf_counter() - started
    row = await stack.journal.thread(turn.key)
    assert row is not None
    events, size = await history_of(stack.temporal, turn_workflow_id(stack.journal_id, turn.key, turn.id))
    return Left(
        events / parts.last_turn,
        size / parts.last_turn,
        seconds / parts.whole,
        row.total_bytes / parts.whole,
        (size_of(file) - before) / parts.whole,
    )


async def _bare(temporal: TemporalClient, given: BareTurn) -> Left:
    name, started = f"bare-{given.steps}-{given.carry}", time.perf_counter()
    await temporal.execute_workflow(BareWorkflow.run, given, id=name, task_queue=BARE_QUEUE)
    seconds = time.perf_counter() - started
    events, size = await history_of(temporal, name)
    return Left(events / given.steps, size / given.steps, seconds / given.steps)


async def history_of(temporal: TemporalClient, workflow_id: str) -> tuple[int, int]:
    """Events and bytes over all runs of a workflow that has ended, the newest first."""
    events = size = 0
    run_id: str | None = (await temporal.get_workflow_handle(workflow_id).describe()).run_id
    while run_id:
        history = await temporal.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        events += len(history.events)
        size += sum(event.ByteSize() for event in history.events)
        run_id = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return events, size


def size_of(file: Path) -> int:
    """The bytes of the journal's pages, wherever they are at the moment."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        (pages,), (page_bytes,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
    return int(pages) * int(page_bytes)
