"""The sources this process has in use: each is opened once, when it is first needed.

Rule: what one source does or fails to do keeps nothing of the others from being used, or from being closed.
"""

from __future__ import annotations

import asyncio

import structlog

from turnwright.activities.sources.port import OpenSource, SlowToLoad, ToolSource

CLOSE_S_MAX = 10.0

log = structlog.get_logger(__name__)


class SourcesInUse:
    """Opens sources and closes them together."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[ToolSource, OpenSource]] = {}  # with the source, or its id might be another's

    async def of(self, source: ToolSource) -> OpenSource:
        """The source, open; agents that share one share its connections."""
        if id(source) not in self._open and isinstance(source, SlowToLoad):
            # The SDK behind it takes a second or more, in which nothing on the loop would move.
            await asyncio.to_thread(source.load)
        known = self._open.get(id(source))
        if known is None:
            known = self._open[id(source)] = (source, source.open())
        return known[1]

    async def close(self) -> None:
        """Close all of them, whatever they do about it."""
        closing = [asyncio.create_task(opened.close()) for _, opened in self._open.values()]
        self._open.clear()
        if not closing:
            return
        done, left = await asyncio.wait(closing, timeout=CLOSE_S_MAX)
        for task in left:
            task.cancel()
        failed = [error for task in done if (error := task.exception()) is not None]
        if left or failed:
            log.warning("sources_not_closed", unfinished=len(left), errors=[repr(error) for error in failed])
