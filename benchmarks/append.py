"""Appends of four entries of 1.5 KB against one INSERT of 6 KB, with 1 and with 64 threads, on both stores.

An append takes the thread's lock, reads its control, numbers, chains and writes the entries and the new
head, and is durable when it is counted. Every thread has a session of its own, as most have. SQLite's floor
has one connection whatever the number of threads, for the file has one writer; PostgreSQL's has the same
pool as the journal. `a step` are the four transactions of a model call and one tool call as a worker makes
them: control is decided, entries of the turn are written, the projections are kept.
"""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.floors import FileFloor
from benchmarks.rounds import paired, together
from benchmarks.step import Conversation
from benchmarks.stores import Store, stores
from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import CreateSession, Inject
from turnwright.journal.entries import Draft, InputInjected
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import user
from turnwright.journal.script import Script
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.locking import lock_in_session

ROUNDS = 12
ENTRY_BYTES = 1_500
BATCH_ENTRIES = 4
FLOOR_BYTES = ENTRY_BYTES * BATCH_ENTRIES
STREAMS = (1, 64)
BATCHES_PER_ROUND = {1: 200, 64: 8}
STEPS_PER_ROUND = {1: 30, 64: 2}


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures = []
    async with stores(bench.folder) as both:
        for store in both:
            figures += [await _floor(bench, store)]
            figures += [await _appends(bench, store, streams) for streams in STREAMS]
            figures += [await _steps(bench, store, streams) for streams in STREAMS]
    return Section("Append throughput", (__doc__ or "").strip(), tuple(figures))


async def _floor(bench: Bench, store: Store) -> Figure:
    """How far the store's own floor stands above the disk's."""
    disk = FileFloor(bench.folder / "plain")
    each = BATCHES_PER_ROUND[1]
    ours, theirs = await paired(bench.rounds(ROUNDS), lambda: _inserts(store, 1, each), lambda: _writes(disk, each))
    disk.close()
    return Figure(f"{store.name}: the floor itself, {store.floor.what}", "rows/s", ours, disk.what, theirs)


async def _appends(bench: Bench, store: Store, streams: int) -> Figure:
    keys = [ThreadKey("bench", None, "agent", f"append-{streams}-{stream}") for stream in range(streams)]
    for key in keys:
        await store.journal.execute(key.session_key, CreateSession(request_id="create"))
        await store.journal.execute(key, Inject(request_id="open", message=user("first")))
    message = user("x" * ENTRY_BYTES)

    async def append(stream: int, _: int) -> None:
        await store.journal.driver.write(lambda: _batch(keys[stream], message))

    each = BATCHES_PER_ROUND[streams]
    ours, theirs = await paired(
        bench.rounds(ROUNDS), lambda: together(streams, each, append), lambda: _inserts(store, streams, each)
    )
    return Figure(f"{store.name}: append, {_threads(streams)}", "batches/s", ours, store.floor.what, theirs)


async def _steps(bench: Bench, store: Store, streams: int) -> Figure:
    conversations = [await Conversation.begin(store.journal, f"step-{streams}-{n}") for n in range(streams)]

    async def step(stream: int, _: int) -> None:
        await conversations[stream].step()

    each = STEPS_PER_ROUND[streams]
    ours, theirs = await paired(
        bench.rounds(ROUNDS),
        lambda: together(streams, each, step),
        lambda: _four_inserts(store, streams, each),
    )
    return Figure(
        f"{store.name}: a step, {_threads(streams)}", "steps/s", ours, f"four times {store.floor.what}", theirs
    )


def _batch(key: ThreadKey, message: object) -> Script[None]:
    locked = yield from lock_in_session(key)
    assert locked is not None
    row, now_us = locked.row, locked.now_us
    drafts = [
        Draft(f"bench:{row.seq}:{n}", InputInjected(message=message))  # type: ignore[arg-type]
        for n in range(BATCH_ENTRIES)
    ]
    yield from append_drafts(row, drafts, fold_drafts(row.control, drafts, now_us), now_us, runnable=False)


async def _inserts(store: Store, streams: int, each: int) -> float:
    body = bytes(FLOOR_BYTES)
    return await together(streams, each, lambda _, __: store.floor.insert(body))


async def _four_inserts(store: Store, streams: int, each: int) -> float:
    body = bytes(ENTRY_BYTES)

    async def four(_: int, __: int) -> None:
        for _again in range(4):
            await store.floor.insert(body)

    return await together(streams, each, four)


async def _writes(disk: FileFloor, each: int) -> float:
    body = bytes(FLOOR_BYTES)
    return await together(1, each, lambda _, __: disk.insert(body))


def _threads(streams: int) -> str:
    return "1 thread" if streams == 1 else f"{streams} threads"
