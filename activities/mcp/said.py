"""What a server writes to its standard error, in the worker's log.

Rule: it is bounded, whatever the server does: lines are cut, and only so many in a while are written. The last of them
are kept, to say what a server said before it ended.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TextIO

import structlog

from turnwright.activities.tool_errors import bounded, without_secrets

LINE_CHARACTERS_MAX: Final = 500
LINES_MAX: Final = 50
WHILE_S: Final = 60.0
KEPT_LINES: Final = 3
READ_BYTES: Final = 8_192
LINE_BYTES_MAX: Final = 64 * 1024

log = structlog.get_logger(__name__)


class Said:
    """Takes what one server says."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._rest = b""
        self._last: deque[str] = deque(maxlen=KEPT_LINES)
        self._since_s = time.monotonic()
        self._count = 0

    @property
    def last(self) -> str:
        """The last it said, on one line; empty when it said nothing."""
        return " | ".join(self._last)

    @asynccontextmanager
    async def taking(self) -> AsyncIterator[TextIO]:
        """A file for the server to write to, which is read while the block runs."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        loop = asyncio.get_running_loop()
        with os.fdopen(writing, "w") as file:
            loop.add_reader(reading, self._read, reading)
            try:
                yield file
            finally:
                loop.remove_reader(reading)
                self._read(reading)
                os.close(reading)

    def _read(self, reading: int) -> None:
        try:
            data = os.read(reading, READ_BYTES)
        except (BlockingIOError, OSError):
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_BYTES_MAX:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._take(line.decode(errors="replace").strip())

    def _take(self, line: str) -> None:
        if not line:
            return
        text = bounded(without_secrets(line[: 2 * LINE_CHARACTERS_MAX]), LINE_CHARACTERS_MAX)
        self._last.append(text)
        if time.monotonic() - self._since_s > WHILE_S:
            self._since_s, self._count = time.monotonic(), 0
        self._count += 1
        if self._count <= LINES_MAX:
            log.info("mcp_server_said", server=self._server, text=text)
        elif self._count == LINES_MAX + 1:
            log.warning("mcp_server_says_too_much", server=self._server, then=f"silent for up to {WHILE_S:g} s")
