"""One reader of the journal for all who follow the same session.

Rule: who follows is given every entry once, in order of position. What was read lately is kept, ready to be sent, so
that two hundred who follow cost one read and are sent the same bytes; who is behind that reads the journal until it has
caught up. Nothing waits for a follower, and nothing is dropped from one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, takewhile

import structlog

from turnwright.client.gateway.framing import Piece, framed, joined
from turnwright.client.wire import dumped
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey
from turnwright.journal.store import POLL_S, Journal
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.rows import clock

PIECES_KEPT_MAX = 1_000
BYTES_KEPT_MAX = 8 * 1024 * 1024
PAGE_ENTRIES = 200
AGAIN_S = 1.0

log = structlog.get_logger(__name__)


class Feed:
    """What was committed lately to one session."""

    def __init__(self, journal: Journal, key: SessionKey, head: int) -> None:
        self._journal = journal
        self._key = key
        self._pieces: deque[Piece] = deque()
        self._newest: dict[int, Piece] = {}  # all that is behind a position, where that is one piece
        self._bytes = 0
        self._base = self._head = head
        self._news = asyncio.Event()
        self._broken: Exception | None = None
        self.gone = False

    async def run(self) -> None:
        """Read what is committed, for ever; ends when the session is deleted, or cannot be read."""
        try:
            await self._follow()
        except Exception as error:  # noqa: BLE001 - whoever waits for news is told, instead of waiting for ever
            self._broken = error
            self._tell()

    async def _follow(self) -> None:
        while not self.gone:
            try:
                async with self._journal.watch(self._key) as watching:
                    while not self.gone:
                        if not await self._read():
                            await watching.changed(POLL_S)
            except StoreUnavailable as error:
                log.warning("feed_interrupted", error=str(error))
                await asyncio.sleep(AGAIN_S)

    async def after(self, position: int) -> Iterable[Piece]:
        """Entries behind a position; none: there are none now, or the session is gone."""
        if position < self._base:
            page = await self._journal.timeline(self._key, position, PAGE_ENTRIES)
            return joined(map(_piece, page))
        if position in self._newest:
            return (self._newest[position],)
        behind = list(takewhile(lambda piece: piece.place > position, reversed(self._pieces)))
        pieces = joined(reversed(behind))
        first = next(pieces, None)
        if first is None:
            return ()
        if first.place == self._head:
            self._newest[position] = first
        return chain((first,), pieces)

    async def news(self, position: int) -> None:
        """Wait until there may be entries behind a position, or the session is gone. Raises why it cannot be read."""
        while self._head <= position and not self.gone:
            if self._broken is not None:
                raise self._broken
            await self._news.wait()

    async def _read(self) -> bool:
        page = await self._journal.timeline(self._key, self._head, PAGE_ENTRIES)
        if not page:
            session = await self._journal.session(self._key)
            self.gone = session is None or session.deleted
        if page and self._journal.delays.due("entries"):
            await self._tell_delay(page[0])
        for located in page:
            self._keep(_piece(located))
        if page or self.gone:
            self._tell()
        return bool(page)

    async def _tell_delay(self, first: Located) -> None:
        waited_us = await self._journal.driver.read(clock) - first.entry.at_us
        self._journal.delays.tell("entries", max(0, waited_us) / SECOND_US)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _keep(self, piece: Piece) -> None:
        self._pieces.append(piece)
        self._bytes += len(piece.events)
        self._head = piece.place
        self._newest.clear()
        while len(self._pieces) > PIECES_KEPT_MAX or self._bytes > BYTES_KEPT_MAX:
            dropped = self._pieces.popleft()
            self._bytes -= len(dropped.events)
            self._base = dropped.place


@dataclass(slots=True)
class _Running:
    feed: Feed
    task: asyncio.Task[None]
    followers: int = 0


class Feeds:
    """The feeds of the sessions that somebody follows now."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._running: dict[SessionKey, _Running] = {}

    @asynccontextmanager
    async def open(self, key: SessionKey, head: int) -> AsyncIterator[Feed]:
        """The session's feed; one that is begun begins behind the position `head`."""
        running = self._running.get(key)
        if running is None or running.task.done():
            feed = Feed(self._journal, key, head)
            running = self._running[key] = _Running(feed, asyncio.create_task(feed.run()))
        running.followers += 1
        try:
            yield running.feed
        finally:
            running.followers -= 1
            if not running.followers:
                await self._end(key, running)

    async def _end(self, key: SessionKey, running: _Running) -> None:
        if self._running.get(key) is running:
            del self._running[key]
        running.task.cancel()
        await asyncio.wait([running.task])


def _piece(located: Located) -> Piece:
    position = located.entry.position
    return Piece(position, framed("entry", position, dumped(Located, located)))
