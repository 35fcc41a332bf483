"""A sealed journal against one that is not, on both stores.

A step are the four transactions of a model call and one tool call. A state is read from its entries, with no checkpoint
and no cache. Both journals are new, on the same server or in the same folder.
"""

from __future__ import annotations

import base64
import secrets
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.rounds import paired, timed, together
from benchmarks.step import Conversation
from benchmarks.stores import Store, stores
from turnwright.journal.keyring import KEY_BYTES
from turnwright.journal.store import Journal
from turnwright.journal.transact.checkpoints import delete_checkpoints

ROUNDS = 12
STEPS_PER_ROUND = {1: 30, 64: 2}
STEPS_READ = 200
ENTRIES_PER_STEP = 5


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    keys = bench.folder / "journal.keys"
    keys.write_text(f"bench {base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}\n")
    figures = []
    async with stores(bench.folder) as both:
        for store in both:
            sealed = await Journal.open(_sealed_url(store, keys), migrate=True)
            try:
                figures += [await _steps(bench, store, sealed, streams) for streams in STEPS_PER_ROUND]
                figures += [await _states(bench, store, sealed)]
            finally:
                await sealed.close()
    return Section("Sealed journals", (__doc__ or "").strip(), tuple(figures))


def _sealed_url(store: Store, keys: Path) -> str:
    if store.file is not None:
        return f"sqlite:///{store.file.with_name('sealed.db')}?keys={keys}"
    return f"{store.url}_sealed&keys={keys}"


async def _steps(bench: Bench, store: Store, sealed: Journal, streams: int) -> Figure:
    each = STEPS_PER_ROUND[streams]
    made = {
        journal: [await Conversation.begin(journal, f"sealed-{streams}-{n}") for n in range(streams)]
        for journal in (sealed, store.journal)
    }

    async def steps(journal: Journal) -> float:
        return await together(streams, each, lambda stream, _: made[journal][stream].step())

    ours, theirs = await paired(bench.rounds(ROUNDS), lambda: steps(sealed), lambda: steps(store.journal))
    of = "1 thread" if streams == 1 else f"{streams} threads"
    return Figure(f"{store.name}: a step, {of}, sealed", "steps/s", ours, "the same, not sealed", theirs)


async def _states(bench: Bench, store: Store, sealed: Journal) -> Figure:
    keys = {}
    for journal in (sealed, store.journal):
        conversation = await Conversation.begin(journal, "sealed-state")
        for _ in range(STEPS_READ):
            await conversation.step()
        await journal.driver.write(lambda: delete_checkpoints(conversation.key))  # noqa: B023 - awaited at once
        keys[journal] = conversation.key

    async def state(journal: Journal) -> float:
        journal.forget(keys[journal])
        return await timed(lambda: journal.state(keys[journal])) * 1000

    ours, theirs = await paired(bench.rounds(ROUNDS), lambda: state(sealed), lambda: state(store.journal))
    what = f"{store.name}: state from {STEPS_READ * ENTRIES_PER_STEP:,} entries, sealed"
    return Figure(what, "ms", ours, "the same, not sealed", theirs)
