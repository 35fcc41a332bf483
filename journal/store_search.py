"""Searching a journal, and seeing that all of it can be found.

Rule: an append indexes what it writes. What is indexed afterwards is what was there before there was a search, or what
older workers write beside newer ones; it is done in transactions of bounded size, while everything goes on.
"""

from __future__ import annotations

from functools import partial

from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal
from turnwright.journal.transact import indexing, searching
from turnwright.journal.transact.listing import Page
from turnwright.journal.transact.searching import HITS_MAX, SearchFilter, SearchHit

THREADS_LOOKED_MAX = 1_000
PAGES_LOOKED_MAX = 20


async def search(
    journal: Journal, wanted: SearchFilter, after: str | None = None, limit: int = 20
) -> Page[SearchHit] | None:
    """Hits, the best first; None when the filter names a session that does not exist."""
    limit = max(1, min(limit, HITS_MAX))
    return await journal.driver.read(lambda: searching.search(wanted, after, limit))


async def index_pieces(driver: Driver, after: int, pieces: int) -> tuple[int, int]:
    """Index up to so many pieces of threads behind one, by id.

    Returns how many it were, and behind which thread to go on; 0: the last one was looked at.
    """
    done = 0
    for _ in range(PAGES_LOOKED_MAX):
        keys, following = await driver.read(partial(indexing.unsearched_threads, after, THREADS_LOOKED_MAX))
        for key in keys:
            finished = False
            while not finished:
                if done == pieces:
                    return done, after
                finished = await driver.write(partial(indexing.index_some, key))
                done += 1
        if following is None:
            return done, 0
        after = following
    return done, after


async def forget_index(driver: Driver) -> None:
    """Have everything indexed anew; what can be found can be found meanwhile."""
    after: int | None = 0
    while after is not None:
        after = await driver.write(partial(indexing.forget_searched, after, THREADS_LOOKED_MAX))
