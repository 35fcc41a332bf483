"""Reads of a journal for operators and clients: lists, and turns with their surroundings.

Rule: functions over a journal, each one script on one snapshot. Nothing here writes.
"""

from __future__ import annotations

from typing import TypeVar

from turnwright.journal.budgets import Used
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Entry
from turnwright.journal.errors import UNREADABLE, StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script
from turnwright.journal.store import Journal
from turnwright.journal.transact import enlisting, inbox, listing, overview, spending
from turnwright.journal.transact.inbox import InboxFilter, Question
from turnwright.journal.transact.listing import ANY_USER, Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, TurnPage
from turnwright.journal.ways import way_to_rebuild, way_to_verify
from turnwright.journal.why import QUIET_S, Code, Scene, Why, why

T = TypeVar("T")
PAGE_ITEMS_MAX = 500
PAGE_ENTRIES_MAX = 500
SHOULD_GO_ON: frozenset[Code] = frozenset({"due", "stalled", "behind", "operation", "worker_lost"})


async def list_turns(
    journal: Journal, wanted: TurnFilter, after: str | None = None, limit: int = 50
) -> Page[TurnSeen] | None:
    """Turns of a tenant, newest first; None when the filter names a session that does not exist."""
    return await journal.driver.read(lambda: listing.list_turns(wanted, after, _bounded(limit)))


async def list_sessions(
    journal: Journal, tenant: str, user: str = listing.ANY_USER, after: str | None = None, limit: int = 50
) -> Page[SessionSeen]:
    """Sessions of a tenant, newest first."""
    return await journal.driver.read(lambda: listing.list_sessions(tenant, user, after, _bounded(limit)))


async def list_threads(
    journal: Journal, key: SessionKey, after: str | None = None, limit: int = 50
) -> Page[ThreadSeen] | None:
    """Threads of a session, oldest first; None when there is no such session."""
    return await journal.driver.read(lambda: listing.list_threads(key, after, _bounded(limit)))


async def see_turn(journal: Journal, key: ThreadKey, turn_id: str, *, children: bool = True) -> Scene | None:
    """A turn with everything around it, of one moment; with the `children` it waits for, or without."""
    return await journal.driver.read(
        lambda: _or(overview.see_turn(key, turn_id, children=children), enlisting.see_enlisted(key, turn_id))
    )


async def explain_turn(journal: Journal, scene: Scene) -> Why:
    """What a turn waits for; where nothing happens although something should, also whether its state can be read."""
    told = why(scene, await journal.driver.presences())
    if told.code not in SHOULD_GO_ON or scene.now_us - scene.last_at_us <= QUIET_S * SECOND_US:
        return told
    try:
        await journal.state(scene.key)
    except StoreCorrupt as error:
        ways = (
            f"`{way_to_verify(scene.key)}` says what is damaged, `{way_to_rebuild(scene.key)}` writes projections anew"
        )
        return Why("unreadable", f"No worker can go on with it: its thread cannot be read ({error.what}); {ways}.")
    except UNREADABLE as error:
        return Why("unreadable", f"No worker of this version can go on with it: its thread cannot be read ({error}).")
    return told


async def see_thread(journal: Journal, key: ThreadKey) -> ThreadSeen | None:
    """A thread as it is now."""
    return await journal.driver.read(lambda: overview.see_thread(key))


async def see_session(journal: Journal, key: SessionKey) -> SessionSeen | None:
    """A session as it is now."""
    return await journal.driver.read(lambda: overview.see_session(key))


async def session_used(journal: Journal, key: SessionKey) -> Used | None:
    """What the session's threads used of its budget, with what running model calls reserved; None: it has none."""
    return await journal.driver.read(lambda: spending.read_used(key))


async def read_turn_page(
    journal: Journal, key: ThreadKey, turn_id: str, after_seq: int = 0, limit: int = PAGE_ENTRIES_MAX
) -> TurnPage | None:
    """The entries of one turn after a place in its thread."""
    limit = max(1, min(limit, PAGE_ENTRIES_MAX))
    return await journal.driver.read(
        lambda: _or(
            overview.read_turn_page(key, turn_id, after_seq, limit),
            enlisting.read_enlisted_page(key, turn_id, after_seq),
        )
    )


async def find_turn_entry(journal: Journal, key: ThreadKey, turn_id: str, entry_id: str) -> Entry | None:
    """One entry of a turn."""
    return await journal.driver.read(lambda: overview.find_turn_entry(key, turn_id, entry_id))


async def find_turns_named(
    journal: Journal, tenant: str, beginning: str, limit: int = 5, user: str = ANY_USER
) -> tuple[tuple[str, ThreadKey], ...]:
    """Turns of a tenant whose id begins so, with their threads; `user` as in `TurnFilter`."""
    # In this order: one that is queued meanwhile is found twice rather than never.
    enlisted = await journal.driver.read(lambda: enlisting.find_enlisted_named(tenant, user, beginning, limit))
    queued = await journal.driver.read(lambda: overview.find_turns_named(tenant, user, beginning, limit))
    return tuple(dict.fromkeys((*queued, *enlisted)))[:limit]


async def read_inbox(
    journal: Journal, wanted: InboxFilter, after: str | None = None, limit: int = 50
) -> Page[Question] | None:
    """Questions to people, oldest first; None when the filter names a session that does not exist."""
    return await journal.driver.read(lambda: inbox.read_inbox(wanted, after, _bounded(limit)))


async def find_interaction(journal: Journal, tenant: str, interaction_id: str) -> Question | None:
    """A question of a tenant by its id, open or not, with what was asked (None: that was erased)."""
    return await journal.driver.read(lambda: inbox.find_interaction(tenant, interaction_id))


def _or(script: Script[T | None], other: Script[T | None]) -> Script[T | None]:
    """What the first finds, else the other."""
    found = yield from script
    return found if found is not None else (yield from other)


def _bounded(limit: int) -> int:
    return max(1, min(limit, PAGE_ITEMS_MAX))
