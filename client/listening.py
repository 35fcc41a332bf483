"""Listening to what a model says while a follower reads what happens.

Rule: each word comes once and in order, and none of an attempt behind the entry that tells of its end. Who follows asks
for entries first and then for words, so that a word never overtakes what came before it.
"""

from __future__ import annotations

from turnwright.client.backend import Backend
from turnwright.journal.deltas import NOTHING_HEARD, Delta
from turnwright.journal.driver import Subscription
from turnwright.journal.entries import Entry, ModelFailed, ModelInterrupted, ModelResponded
from turnwright.journal.ids import ThreadKey

ENDS = (ModelResponded, ModelFailed, ModelInterrupted)


class Listener:
    """One follower of a thread, or of one turn of it; it hears nothing unless `wanted`."""

    def __init__(self, backend: Backend, key: ThreadKey, turn_id: str | None = None, *, wanted: bool = True) -> None:
        self._backend = backend
        self._key = key
        self._turn_id = turn_id
        self._wanted = wanted
        self._place = NOTHING_HEARD
        self._ended: tuple[str | None, int, int] | None = None

    def watch(self) -> Subscription:
        """Watch commits to the thread, and what is said if that is wanted."""
        return self._backend.watch_said(self._key) if self._wanted else self._backend.watch(self._key)

    def passed(self, entry: Entry) -> None:
        """Take notice of an entry that the follower has got."""
        if isinstance(entry.payload, ENDS):
            self._ended = (entry.turn_id, entry.step or 0, entry.payload.ordinal)

    async def heard(self) -> list[Delta]:
        """What was said since the last time."""
        if not self._wanted:
            return []
        heard = await self._backend.said(self._key, self._place)
        self._place = heard.place
        return [delta for delta in heard.deltas if self._is_news(delta)]

    def _is_news(self, delta: Delta) -> bool:
        if self._turn_id not in (None, delta.turn_id):
            return False
        turn_id, step, ordinal = self._ended or (None, 0, 0)
        return turn_id != delta.turn_id or (delta.step, delta.ordinal) > (step, ordinal)
