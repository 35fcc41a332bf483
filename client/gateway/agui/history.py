"""The conversation of a thread up to any of its entries, read as far as it is wanted.

Rule: it begins so many entries back, whatever the agent itself still remembers; it is read once and goes on from there.
"""

from __future__ import annotations

from turnwright.client.backend import Backend
from turnwright.client.gateway.agui.messages import conversation, name_of, with_said
from turnwright.journal.agent_state import AgentState, empty_state
from turnwright.journal.evolve_state import is_base
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Message

HISTORY_ENTRIES_MAX = 2_000
PAGE_ENTRIES = 500


class History:
    """What was said on a thread before one of its turns and in it. `through_seq`: as far as it is wanted first."""

    def __init__(self, backend: Backend, key: ThreadKey, turn_id: str, through_seq: int) -> None:
        self._backend = backend
        self.key = key
        self._turn_id = turn_id
        self._through_seq = through_seq
        self._seq = max(0, through_seq - HISTORY_ENTRIES_MAX)
        self._state: AgentState = empty_state(key)

    async def messages(self, through_seq: int | None = None) -> tuple[Message, ...]:
        """The conversation after an entry, which is none before the one that was asked for last."""
        wanted = self._through_seq if through_seq is None else through_seq
        while self._seq < wanted:
            page = await self._backend.entries(self.key, self._seq, min(PAGE_ENTRIES, wanted - self._seq))
            if not page:
                break
            begins = max((n for n, entry in enumerate(page) if is_base(entry)), default=None)
            if begins is not None:  # what a fork was told before, or what a rewind left
                self._state = await self._backend.state(self.key, page[begins].seq)
                page = page[begins + 1 :]
            self._state = with_said(self._state, page)
            self._seq = page[-1].seq if page else self._state.as_of_seq
        return conversation(self._state, self._turn_id)

    async def names(self) -> frozenset[str]:
        """The ids of its messages, as front ends know them."""
        return frozenset(map(name_of, await self.messages()))
