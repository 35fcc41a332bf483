"""The connection to a server: a session that is opened when first needed, kept, and opened anew when it has ended.

Rule: there is one session for a server and a worker. One that was left is not given out any more, and lasts until its
calls are over, beside the next. After a failure it is not tried again at once, but ever more seldom; who asks meanwhile
is told what was wrong. One who waits no longer leaves the opening alone: a server that is slow to start would never be
there otherwise.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from turnwright.activities.mcp.live import Live
from turnwright.activities.mcp.server import McpServer
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.unwatched import seen

BACKOFF_S_FIRST: Final = 0.5
BACKOFF_S_MAX: Final = 30.0


class Connection:
    """Gives the session with one server."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._live: Live | None = None
        self._opened: set[Live] = set()
        self._opening: asyncio.Task[Live] | None = None
        self._failures = 0
        self._not_before_s = 0.0
        self._why = ""

    async def live(self) -> Live:
        """The session, opened if there is none.

        Raises:
            SourceAway: there is none and none can be had now.
        """
        if self._live is not None and not self._live.over:
            return self._live
        if self._opening is None or self._opening.done():
            if time.monotonic() < self._not_before_s:
                raise SourceAway(self._why)
            self._opening = asyncio.create_task(self._open(), name=f"mcp {self._server.name} opening")
            self._opening.add_done_callback(seen)
        return await asyncio.shield(self._opening)

    async def live_within(self, patience_s: float) -> Live:
        """The session, tried for again and again for so long.

        Raises:
            SourceAway: none could be had.
        """
        until_s = time.monotonic() + patience_s
        while True:
            try:
                return await self.live()
            except SourceAway:
                wait_s = max(0.0, self._not_before_s - time.monotonic())
                if time.monotonic() + wait_s >= until_s:
                    raise
            await asyncio.sleep(wait_s)

    async def close(self) -> None:
        """End the session, if there is one, and those before it that have calls yet."""
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.cancel()
            await asyncio.wait({opening})
        self._live = None
        opened, self._opened = self._opened, set()
        await asyncio.gather(*(live.close() for live in opened))

    async def _open(self) -> Live:
        await self._end_left()
        try:
            self._live = await Live.open(self._server)
        except SourceAway as error:
            backoff_s = min(BACKOFF_S_FIRST * 2 ** min(self._failures, 10), BACKOFF_S_MAX)
            self._failures += 1
            self._not_before_s = time.monotonic() + backoff_s
            self._why = f"The MCP server {self._server.name!r} is away: {error}."
            raise SourceAway(self._why) from error
        self._failures = 0
        self._opened.add(self._live)
        return self._live

    async def _end_left(self) -> None:
        """Have the sessions without calls end first: a program may not bear another of its kind beside it."""
        ending = [live for live in self._opened if live.is_idle]
        await asyncio.gather(*(live.close() for live in ending))
        self._opened.difference_update(ending)
