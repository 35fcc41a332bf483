"""Bodies of requests on their way in: each bounded in size and in time, and all of them together in memory.

Rule: what is too much is refused before it is here. A body that nobody reads is not touched.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from turnwright.client.gateway.problems import Full, GatewayError, TooLarge, TooSlow

AT_ONCE = 64
LENGTH_DIGITS_MAX = 20
IMPORTS_AT_ONCE = 2
IMPORT = re.compile(r"(/v1)?/sessions/[^/]+/threads/[^/]+/[^/]+/import")


@dataclass(slots=True)
class Bodies:
    """The bounds of each, and the bytes that unfinished ones hold now: `AT_ONCE` times the largest at most.

    An import is held until it is answered: it is parsed beside others, and for longer than it took to come.
    """

    bytes_max: int
    timeout_s: float
    import_bytes_max: int = 0
    held: int = 0
    imports_held: int = 0

    @contextmanager
    def receiving(
        self, receive: Receive, headers: Headers, started: Callable[[], bool], path: str = ""
    ) -> Iterator[Receive]:
        """Receive one within the bounds.

        Args:
            receive: the server's.
            headers: the request's.
            started: whether the answer is under way, so that nothing can be refused.
            path: where it is sent to: a conversation from elsewhere, with its files, may be larger.
        """
        is_import = IMPORT.fullmatch(path) is not None
        body = _Body(self, receive, headers.get("content-length", ""), started, is_import=is_import)
        try:
            yield body.take
        finally:
            body.let_go()

    def most(self, *, is_import: bool) -> int:
        """How many bytes one may have."""
        return max(self.bytes_max, self.import_bytes_max) if is_import else self.bytes_max

    def hold(self, more: int, *, is_import: bool) -> None:
        """Count so many bytes more, or less; those of imports apart, so that they take nobody's room. Raises `Full`."""
        at_once, held = (IMPORTS_AT_ONCE, self.imports_held) if is_import else (AT_ONCE, self.held)
        if more > 0 and held + more > at_once * self.most(is_import=is_import):
            raise Full("the gateway reads as much as it can hold; repeat the request, with the same Idempotency-Key")
        if is_import:
            self.imports_held += more
        else:
            self.held += more


class _Body:
    """One body; `taken` is how much of it came."""

    def __init__(
        self, bodies: Bodies, receive: Receive, length: str, started: Callable[[], bool], *, is_import: bool
    ) -> None:
        self._bodies = bodies
        self._is_import = is_import
        self._bytes_max = bodies.most(is_import=is_import)
        self._receive = receive
        self._declared = int(length) if length.isdecimal() and len(length) < LENGTH_DIGITS_MAX else 0
        self._started = started
        self._until_s = time.monotonic() + bodies.timeout_s
        self._whole = False
        self.taken = 0

    async def take(self) -> Message:
        """The next part of it; when all of it was here, what else the server has to say."""
        if self._whole:
            return await self._receive()
        try:
            return await self._next()
        except GatewayError:
            if self._started():  # it reads on although it has answered: as if nobody were there any more
                return {"type": "http.disconnect"}
            raise

    async def _next(self) -> Message:
        self._check(self._declared)
        try:
            async with asyncio.timeout(max(0, self._until_s - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow(f"the body was not here within {self._bodies.timeout_s:g} s") from None
        more = len(message.get("body", b""))
        self._check(self.taken + more)
        self._bodies.hold(more, is_import=self._is_import)
        self.taken += more
        if not message.get("more_body", False):
            self._whole = True
            if not self._is_import:
                self.let_go()
        return message

    def _check(self, size: int) -> None:
        """Raises `TooLarge` for so many bytes, or more."""
        if size > self._bytes_max:
            raise TooLarge(f"the body is larger than {self._bytes_max:,} bytes, which is the most the gateway takes")

    def let_go(self) -> None:
        """Count it no more: it is whole and small, or answered, or nobody wants it."""
        self._bodies.hold(-self.taken, is_import=self._is_import)
        self.taken = 0
