"""How long a turn in a silent model call (headers, then nothing) takes to end once it was cancelled; against the
cancel of a plain Temporal workflow that waits for its activity to be cancelled, with a heartbeat timeout of 10 s.

Ours is counted from the call of `cancel` to the time of the entry `turn.cancelled`, so the receipt is in it.
"""

from __future__ import annotations

import time

from temporalio.client import WorkflowFailureError

from benchmarks.agents import STILL
from benchmarks.bare_worker import BareCalling
from benchmarks.bench import Bench
from benchmarks.figures import Section, with_worst
from benchmarks.stack import bare_workers, client_of, our_workers, temporal_server
from benchmarks.stores import sqlite_store
from benchmarks.victims import Ours, Theirs, entry_of
from benchmarks.workers_seen import who_calls
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import ModelRequested, TurnCancelled

CANCELS = 30
PEER = "bare workflow, heartbeat timeout 10 s"


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    cancels = 3 if bench.quick else CANCELS
    async with temporal_server(bench.folder) as temporal:
        async with (
            sqlite_store(bench.folder) as store,
            our_workers(temporal, store, "cancel", bench.folder, 1),
        ):
            client = client_of(temporal, store.journal, "cancel")
            mine = Ours(temporal, client, await store.journal.journal_id())
            ours = tuple([await _our_cancel(mine) for _ in range(cancels)])
        async with bare_workers(temporal, "bare-cancel", bench.folder, 1):
            others = Theirs(temporal, "bare-cancel", bench.folder)
            theirs = tuple([await _their_cancel(others) for _ in range(cancels)])
    return Section(
        "Cancel", (__doc__ or "").strip(), with_worst("cancelled in a silent model call", ours, PEER, theirs)
    )


async def _our_cancel(mine: Ours) -> float:
    turn, workflow = await mine.begin(STILL.name)
    await entry_of(turn, lambda entry: isinstance(entry.payload, ModelRequested))
    await who_calls(workflow)
    asked_s = time.time()
    await turn.cancel()
    return (await entry_of(turn, lambda entry: isinstance(entry.payload, TurnCancelled))).at_us / SECOND_US - asked_s


async def _their_cancel(others: Theirs) -> float:
    workflow = await others.start(BareCalling)
    await who_calls(workflow)
    asked_s = time.time()
    await workflow.cancel()
    try:
        await workflow.result()
    except WorkflowFailureError:
        return time.time() - asked_s
    raise AssertionError("it was not cancelled")
