"""The journal's upkeep: prove it, rebuild what is a projection, count what is in it.

Rule: functions over a journal that go through it in pages; each thread and session is a transaction of its own,
so they may be run at any time and ended at any point.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from functools import partial

from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput, JournalError, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import first, rows
from turnwright.journal.store import Journal
from turnwright.journal.store_walking import walk_ahead
from turnwright.journal.transact.indexing import index_some
from turnwright.journal.transact.rebuilding import Rebuilt, rebuild_session, rebuild_thread
from turnwright.journal.transact.statistics import Statistics, read_statistics
from turnwright.journal.transact.verifying import Proof, verify_session, verify_strays, verify_thread

PAGE_IDS_MAX = 200


async def verify(journal: Journal, session: SessionKey | None = None) -> AsyncIterator[Proof]:
    """A proof of each thread, session log and session of the journal, or of one session.

    Raises:
        InvalidInput: there is no such session.
    """
    async for thread_id, _ in _threads(journal, session):
        proof = await journal.driver.read(partial(verify_thread, thread_id))
        if proof is not None:
            yield proof
    async for session_id, _ in _sessions(journal, session):
        proof = await journal.driver.read(partial(verify_session, session_id))
        if proof is not None:
            yield proof
    if session is None:
        yield await journal.driver.read(verify_strays)


async def rebuild(journal: Journal, session: SessionKey | None = None) -> AsyncIterator[Rebuilt]:
    """Rebuild each thread, session log and session of the journal, or of one session.

    One that cannot be rebuilt is left as it is, and says why.

    Raises:
        InvalidInput: there is no such session.
    """
    # Sessions first: what a thread takes of a budget depends on its session's control.
    async for _, key in _sessions(journal, session):
        rebuilt = await _if_it_can_be(key, journal.driver.write(partial(rebuild_session, key)))
        if rebuilt is not None:
            yield rebuilt
    async for thread_id, key in _threads(journal, session):
        rebuilt = await _if_it_can_be(key, _rebuild_thread(journal.driver, key, thread_id))
        if rebuilt is not None:
            yield rebuilt


async def threads_of(journal: Journal, session: SessionKey | None = None) -> AsyncIterator[ThreadKey]:
    """Keys of all threads with an agent, or of those of one session.

    Raises:
        InvalidInput: there is no such session.
    """
    async for _, canonical in _threads(journal, session):
        key = ThreadKey.parse(canonical)
        if not key.is_session_log:
            yield key


async def _rebuild_thread(driver: Driver, key: str, thread_id: int) -> Rebuilt | None:
    """What takes long, reading it and making its words be found, keeps no other writer waiting."""
    ahead = await walk_ahead(driver, ThreadKey.parse(key), thread_id)
    rebuilt = await driver.write(partial(rebuild_thread, key, ahead))
    while rebuilt is not None and not await driver.write(partial(index_some, key)):
        pass
    return rebuilt


async def _if_it_can_be(key: str, rebuilding: Awaitable[Rebuilt | None]) -> Rebuilt | None:
    """What was rebuilt, or why it was left as it is."""
    try:
        return await rebuilding
    except StoreUnavailable:
        raise
    except (JournalError, ValueError) as error:
        return Rebuilt(key, kept=str(error))


async def statistics(journal: Journal) -> Statistics:
    """How much is in the journal."""
    return await journal.driver.read(read_statistics)


async def _threads(journal: Journal, session: SessionKey | None) -> AsyncIterator[tuple[int, str]]:
    """Ids and keys of all threads and logs, or of those of one session."""
    if session is None:
        async for found in _pages(journal, "thread_page"):
            yield found
        return
    async for session_id, _ in _sessions(journal, session):
        async for found in _pages(journal, "thread_page_of_session", session_id):
            yield found


async def _sessions(journal: Journal, session: SessionKey | None) -> AsyncIterator[tuple[int, str]]:
    """Ids and keys of all sessions, or of the one."""
    if session is None:
        async for found in _pages(journal, "session_page"):
            yield found
        return
    row = await journal.driver.read(partial(first, "find_session", session.canonical))
    if row is None:  # to say that all of it is proven would be no lie, and false assurance
        whose = "the anonymous user" if session.user is None else f"user {session.user}"
        raise InvalidInput(f"there is no session {session.session} of {whose}; see `turnwright session list`")
    yield row[0], session.canonical


async def _pages(journal: Journal, statement: str, *more: int) -> AsyncIterator[tuple[int, str]]:
    after = 0
    while True:
        page = await journal.driver.read(partial(rows, statement, after, PAGE_IDS_MAX, *more))
        for row_id, key in page:
            yield row_id, key
        if len(page) < PAGE_IDS_MAX:
            return
        after = page[-1][0]
