"""A thread's entries read in pages, each a transaction of its own, and folded where that holds up nobody.

Rule: what was walked is true of the entries up to its place as long as none of them is erased. Whoever writes what
follows from it looks, under the lock, whether one was (`transact.rebuilding`), or has a thread that nobody else sees.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from turnwright.journal.agent_state import AgentState
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.bases import origins_of, rewound_to
from turnwright.journal.transact.walking import Ahead, Walk, begin_walk, end_walk, next_page, walk_on


async def walk_ahead(driver: Driver, key: ThreadKey, thread_id: int, kept_seqs: frozenset[int] = frozenset()) -> Ahead:
    """All of its entries up to now, folded, as `walk_based` does; with the states at the given seqs."""
    walk = await _walk(driver, key, thread_id, kept_seqs, {})
    since = walk.seq
    if walk.bases:
        origins = await driver.read(partial(origins_of, walk))
        walk = await _walk(driver, key, thread_id, kept_seqs | rewound_to(walk), origins)
    return Ahead(thread_id, walk, since)


async def _walk(
    driver: Driver, key: ThreadKey, thread_id: int, kept_seqs: frozenset[int], origins: Mapping[int, AgentState]
) -> Walk:
    walk = begin_walk(key, kept_seqs, origins)
    while page := await driver.read(partial(next_page, thread_id, walk.seq)):
        await asyncio.to_thread(walk_on, walk, page)
    return end_walk(walk)
