"""An imported thread brought to where it can be shown: read in pages, written in pieces, proven.

Rule: no transaction grows with the thread, so that others write meanwhile. Whoever is cut off begins the thread anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from turnwright.journal.agent_state import AgentState
from turnwright.journal.driver import Driver
from turnwright.journal.transact import settling
from turnwright.journal.transact.bases import origins_of, rewound_to
from turnwright.journal.transact.importing import Begun, Declared
from turnwright.journal.transact.walking import Walk, begin_walk, end_walk, next_page, walk_on


async def settle(driver: Driver, begun: Begun, digest: str, thread: Declared, thread_id: int) -> str | None:
    """Write all that follows from a thread's entries, and prove it; what is wrong with it, None: nothing.

    Raises:
        CommandRejected: another thread of the journal has a turn of it; or `import_lost`.
    """
    walk = await _walked(driver, thread, thread_id)
    wrong = settling.judge(walk, thread)
    if wrong is not None:
        return wrong
    of = settling.settling(begun, digest, thread, walk, thread_id)
    while begun.place != "new" and not await driver.write(partial(settling.clear_some, of)):
        pass
    for write in settling.transactions(of):
        await driver.write(write)
    while not await driver.read(partial(settling.is_indexed, of)):
        await driver.write(partial(settling.index_some, of))
    return await driver.read(partial(settling.prove, of))


async def _walked(driver: Driver, thread: Declared, thread_id: int) -> Walk:
    """All of its entries, folded; with the state at the last one, of which a checkpoint may be kept."""
    last = frozenset({thread.entries})
    walk = await _walk(driver, thread, thread_id, last, {})
    if not walk.bases:
        return walk
    origins = await driver.read(partial(origins_of, walk))
    return await _walk(driver, thread, thread_id, last | rewound_to(walk), origins)


async def _walk(
    driver: Driver, thread: Declared, thread_id: int, kept_seqs: frozenset[int], origins: Mapping[int, AgentState]
) -> Walk:
    """As `walk_thread`, but each page is read for itself and folded where it holds up nobody."""
    walk = begin_walk(thread.key, kept_seqs, origins)
    while page := await driver.read(partial(next_page, thread_id, walk.seq)):
        await asyncio.to_thread(walk_on, walk, page)
    return end_walk(walk)
