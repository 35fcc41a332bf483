"""Sessions as the tools of an agent may see them: those of its thread's own user, whatever a model asks for.

Rule: tenant and user come from the thread and from nowhere else. Nobody knows whether two anonymous sessions are of
one person, so of these an agent sees only the one it is in.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.activities.runtime.persist import persist
from turnwright.journal import store_admin, store_search
from turnwright.journal.entries import Entry
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.listing import Page
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen
from turnwright.journal.transact.searching import SearchFilter, SearchHit


@dataclass(frozen=True, slots=True)
class OwnSessions:
    """The sessions of the user of `key`."""

    journal: Journal
    key: ThreadKey

    async def page(self, after: str | None, limit: int) -> Page[SessionSeen]:
        """Sessions, newest first."""
        key = self.key
        if key.user is None:
            seen = await persist(lambda: store_admin.see_session(self.journal, key.session_key))
            return Page(() if seen is None else (seen,))
        user = f"+{key.user}"
        return await persist(lambda: store_admin.list_sessions(self.journal, key.tenant, user, after, limit))

    async def search(self, text: str, limit: int) -> tuple[SearchHit, ...]:
        """What was said that fits, the best first. Raises `InvalidInput` when there is no word in it."""
        key = self.key
        wanted = (
            SearchFilter(key.tenant, text, session=key.session_key)
            if key.user is None
            else SearchFilter(key.tenant, text, user=f"+{key.user}")
        )
        page = await persist(lambda: store_search.search(self.journal, wanted, None, limit))
        return () if page is None else page.items

    async def threads(self, session: str, limit: int) -> tuple[ThreadSeen, ...]:
        """Threads of a session; none when it is not the user's. Raises `InvalidInput` for what is no name."""
        key = self._session(session)
        page = None if key is None else await persist(lambda: store_admin.list_threads(self.journal, key, None, limit))
        return () if page is None else page.items

    async def entries(self, session: str, agent: str, thread: str, after_seq: int, limit: int) -> list[Entry]:
        """A page of a thread's entries; none when it is not the user's. Raises `InvalidInput` for what is no name."""
        of = self._session(session)
        if of is None:
            return []
        key = ThreadKey(of.tenant, of.user, agent, of.session, thread).checked()
        return await persist(lambda: self.journal.entries(key, after_seq, limit))

    def _session(self, session: str) -> SessionKey | None:
        own = self.key.session_key
        asked = SessionKey(own.tenant, own.user, session).checked()
        return None if own.user is None and asked != own else asked
