"""Rebuilding a thread from its entries, against reading as many bytes of as many rows raw.

The state is read, decoded and folded from the first entry on, with no checkpoint and no cache; the control
is folded from the same entries. The raw read selects the same number of rows of the same size in one
statement and looks at nothing.
"""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.floors import Floor
from benchmarks.rounds import paired, timed
from benchmarks.step import Conversation
from benchmarks.stores import Store, stores
from turnwright.journal.control import ThreadControl
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.checkpoints import delete_checkpoints
from turnwright.journal.transact.reading import PAGE_ENTRIES_MAX

ROUNDS = 10
ENTRIES = (100, 1_000, 10_000)
ENTRIES_PER_STEP = 5


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    sizes = ENTRIES[:2] if bench.quick else ENTRIES
    figures = []
    async with stores(bench.folder) as both:
        for store in both:
            for entries in sizes:
                figures += await _measure(bench, store, entries)
    return Section("Rebuild", (__doc__ or "").strip(), tuple(figures))


async def _measure(bench: Bench, store: Store, entries: int) -> list[Figure]:
    key = await _thread_of(store.journal, entries)
    row = await store.journal.thread(key)
    assert row is not None
    size = row.total_bytes // row.seq
    for _ in range(row.seq):
        await store.floor.insert(bytes(size))

    async def state() -> float:
        store.journal.forget(key)
        return await timed(lambda: store.journal.state(key)) * 1000

    async def control() -> float:
        return await timed(lambda: _control(store.journal, key)) * 1000

    async def raw() -> float:
        return await timed(lambda: _read(store.floor, row.seq)) * 1000

    figures = []
    for name, rebuild in (("state", state), ("control", control)):
        ours, theirs = await paired(bench.rounds(ROUNDS), rebuild, raw)
        what = f"{store.name}: {name} from {row.seq:,} entries"
        figures.append(Figure(what, "ms", ours, f"raw read of {row.seq * size / 1000:,.0f} KB", theirs))
    return figures


async def _thread_of(journal: Journal, entries: int) -> ThreadKey:
    conversation = await Conversation.begin(journal, f"rebuild-{entries}")
    for _ in range(entries // ENTRIES_PER_STEP):
        await conversation.step()
    await journal.driver.write(lambda: delete_checkpoints(conversation.key))
    return conversation.key


async def _control(journal: Journal, key: ThreadKey) -> ThreadControl:
    control, after = ThreadControl(), 0
    while page := await journal.entries(key, after, PAGE_ENTRIES_MAX):
        for entry in page:
            control = evolve_control(control, entry)
        after = page[-1].seq
    return control


async def _read(floor: Floor, rows: int) -> None:
    assert await floor.read(rows) > 0
