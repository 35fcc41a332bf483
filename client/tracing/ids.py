"""The ids of a turn's trace and of the spans in it.

Rule: they follow from what the turn is, so nothing has to carry them: every process that ever works on the turn, before
and after any pause, takeover or loss, adds to the same trace. The journal's id is in them, for two journals may hold
the same turn.
"""

from __future__ import annotations

import hashlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8
JOURNAL_ID: Final[ContextVar[str]] = ContextVar("turnwright_journal_id", default="")
"""The journal whose turns are worked with in this context, for its log lines; empty until it is known."""


@dataclass(frozen=True, slots=True)
class TurnIds:
    """The ids of one turn."""

    journal_id: str
    turn_id: str

    @property
    def trace(self) -> int:
        """Of its trace."""
        return self._made(TRACE_BYTES)

    @property
    def queued(self) -> int:
        """Of the span from when it was accepted to when it began."""
        return self._made(SPAN_BYTES, "queued")

    def start(self, started_at_us: int) -> int:
        """Of the span from one start of the turn to its end; a retried turn is started again."""
        return self._made(SPAN_BYTES, "start", started_at_us)

    def attempt(self, step: int, call: str, ordinal: int) -> int:
        """Of one attempt of a model call (`call` is empty) or of a tool call."""
        return self._made(SPAN_BYTES, "attempt", step, call, ordinal)

    def _made(self, size: int, *parts: object) -> int:
        text = "\0".join(map(str, (self.journal_id, self.turn_id, *parts)))
        return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:size]) or 1
