"""Ids of spans that are known before the spans are.

Rule: whoever asks for none gets a random one, so spans of others may come from the same provider.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator


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
