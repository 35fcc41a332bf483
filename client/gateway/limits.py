"""How much one credential may ask: requests a second, and open streams.

Rule: a token bucket for each, in memory and bounded; one gateway counts for itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.problems import TooMany

CALLERS_REMEMBERED_MAX = 10_000
STREAM_RETRY_S = 5.0


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at_s: float


@dataclass(slots=True)
class Limits:
    """Counts for each credential."""

    per_s: float
    at_once: int
    streams_max: int
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[tuple[str, ...], _Bucket] = field(default_factory=OrderedDict)
    _streams: dict[tuple[str, ...], int] = field(default_factory=dict)

    def take(self, caller: Caller) -> None:
        """Count a request. Raises `TooMany`."""
        now_s, whose = self.clock(), _whose(caller)
        bucket = self._buckets.setdefault(whose, _Bucket(self.at_once, now_s))
        bucket.tokens = min(self.at_once, bucket.tokens + (now_s - bucket.at_s) * self.per_s)
        bucket.at_s = now_s
        self._buckets.move_to_end(whose)
        while len(self._buckets) > CALLERS_REMEMBERED_MAX:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1:
            raise TooMany(f"more than {self.per_s:g} requests a second; go slower", (1 - bucket.tokens) / self.per_s)
        bucket.tokens -= 1

    def check_stream(self, caller: Caller) -> None:
        """Raises `TooMany` if the caller holds as many streams as it may."""
        if self._streams.get(_whose(caller), 0) >= self.streams_max:
            raise TooMany(f"{self.streams_max} streams are open; close one", STREAM_RETRY_S)

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """Hold one of the streams."""
        whose = _whose(caller)
        self._streams[whose] = self._streams.get(whose, 0) + 1
        try:
            yield
        finally:
            self._streams[whose] -= 1
            if not self._streams[whose]:
                del self._streams[whose]


def _whose(caller: Caller) -> tuple[str, ...]:
    return (caller.tenant, caller.key_id or caller.principal)
