"""Where a turn belongs: its thread, asked of the journal once and remembered.

Rule: the answer never changes, so it does not travel with every step through Temporal's history. A turn that
is not known is never remembered.
"""

from __future__ import annotations

from collections import OrderedDict

from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.runs import ThreadGone

TURNS_REMEMBERED_MAX = 10_000


class Places:
    """The threads of the turns this process works on."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: OrderedDict[str, ThreadKey] = OrderedDict()

    async def thread_of(self, turn_id: str) -> ThreadKey:
        """The thread of a turn.

        Raises:
            ThreadGone: the journal knows no such turn (any more).
            StoreUnavailable: try again.
        """
        key = self._known.get(turn_id) or await self._journal.thread_of(turn_id)
        if key is None:
            raise ThreadGone(f"the journal knows no turn {turn_id}")
        self._known[turn_id] = key
        self._known.move_to_end(turn_id)
        while len(self._known) > TURNS_REMEMBERED_MAX:
            self._known.popitem(last=False)
        return key
