"""The ids of a turn's trace and of the spans in it.

Rule: they follow from what the turn is, so nothing has to carry them: every process that ever works on the turn, before
and after any pause, takeover or loss, adds to the same trace. The journal's id is in them, for two journals may hold
the same turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class TurnIds:
    """The ids of one turn."""

    journal_id: str
    turn_id: str

    @property
    def trace(self) -> int:
        """Of its trace."""
        return self._made(TRACE_BYTES)

    def start(self, started_at_us: int) -> int:
        """Of the span from one start of the turn to its end; a retried turn is started again."""
        return self._made(SPAN_BYTES, "start", started_at_us)

    def attempt(self, step: int, call: str, ordinal: int) -> int:
        """Of one attempt of a model call (`call` is empty) or of a tool call."""
        return self._made(SPAN_BYTES, "attempt", step, call, ordinal)

    def _made(self, size: int, *parts: object) -> int:
        text = "\0".join(map(str, (self.journal_id, self.turn_id, *parts)))
        return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:size]) or 1


class GivenIds(IdGenerator):
    """Gives the ids that are asked for, and random ones to whoever asks for none."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._given: ContextVar[tuple[int, int]] = ContextVar("given", default=(0, 0))

    @contextmanager
    def given(self, trace: int, span: int) -> Iterator[None]:
        """In the block, these are the next ids; 0: a random one."""
        token = self._given.set((trace, span))
        try:
            yield
        finally:
            self._given.reset(token)

    def generate_span_id(self) -> int:
        """Of the span that begins."""
        return self._given.get()[1] or self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        """Of the trace that begins."""
        return self._given.get()[0] or self._random.generate_trace_id()
