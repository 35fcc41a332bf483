"""A turn of two model calls and one tool call whose payloads are sealed on their way through Temporal, against the
same turn with none sealed.

Two journals on SQLite, each with a worker, and one Temporal for both; what differs is that worker and caller of one
are given a file of keys. Bytes are those of all events of the turn's workflow.
"""

from __future__ import annotations

import base64
import secrets
from pathlib import Path

from temporalio.client import Client as TemporalClient

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.history import history_of
from benchmarks.rounds import paired
from benchmarks.stack import Stack, temporal_server, working
from benchmarks.stores import sqlite_store
from benchmarks.turn import ROUNDS, THREADS, TURNS_PER_ROUND, carried_out, ms_per_turn, new_thread
from turnwright.journal.keyring import KEY_BYTES, read_keys
from turnwright.workflows.ids import turn_workflow_id
from turnwright.workflows.sealing import converter

KEYS = "TURNWRIGHT_TEMPORAL_KEYS"
PLAIN = "the same, not sealed"


async def run(bench: Bench) -> Section:
    """Measure on SQLite; Temporal's part is the same on every store."""
    async with (
        temporal_server(bench.folder) as temporal,
        sqlite_store(bench.folder) as one,
        sqlite_store(bench.folder) as other,
    ):
        keys = _keys(bench.folder)
        async with (
            working(await _sealing(temporal, keys), one, bench.folder, "sealed", {KEYS: str(keys)}) as sealed,
            working(temporal, other, bench.folder, "plain") as plain,
        ):
            figures = [await _measure(bench, sealed, plain, threads) for threads in THREADS]
            taken = await paired(bench.rounds(ROUNDS), lambda: _bytes(sealed), lambda: _bytes(plain))
            figures.append(Figure("Temporal bytes", "B/turn", taken[0], PLAIN, taken[1]))
    return Section("A turn whose payloads are sealed", (__doc__ or "").strip(), tuple(figures))


def _keys(folder: Path) -> Path:
    file = folder / "temporal.keys"
    file.write_text(f"bench {base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}\n", "ascii")
    return file


async def _sealing(temporal: TemporalClient, keys: Path) -> TemporalClient:
    """A client of the same server that seals."""
    address = temporal.service_client.config.target_host
    shape = converter(read_keys(keys))
    return await TemporalClient.connect(address, namespace=temporal.namespace, data_converter=shape)


async def _measure(bench: Bench, sealed: Stack, plain: Stack, count: int) -> Figure:
    threads = {stack: [await new_thread(stack) for _ in range(count)] for stack in (sealed, plain)}
    each = TURNS_PER_ROUND[count]

    async def ms(stack: Stack) -> float:
        return await ms_per_turn(count, each, lambda stream, _: carried_out(threads[stack][stream]))

    taken = await paired(bench.rounds(ROUNDS), lambda: ms(sealed), lambda: ms(plain))
    return Figure(f"{count} thread{'s' if count > 1 else ''}", "ms/turn", taken[0], PLAIN, taken[1])


async def _bytes(stack: Stack) -> float:
    """What the history of one turn's workflow takes."""
    turn = await carried_out(await new_thread(stack))
    name = turn_workflow_id(stack.journal_id, turn.key, turn.id)
    await stack.temporal.get_workflow_handle(name).result()
    _, size = await history_of(stack.temporal, name)
    return size
