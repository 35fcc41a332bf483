"""Telling other processes of commits, and hearing of theirs.

Rule: a commit is told after it happened, on a connection of its own and many at once, because NOTIFY inside
a transaction makes all commits of the database queue behind one lock. A notice that is lost costs latency
only: readers look again after their own timeout.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import structlog

from turnwright.journal.errors import StoreError
from turnwright.journal.postgres.client import Connection
from turnwright.journal.postgres.connection import FAILURES, Server, close, drop
from turnwright.journal.postgres.locks import channel
from turnwright.journal.statements import statement

EVERYTHING = "*"
TOPICS_MAX = 450  # of 16 characters and a space each: a notice takes less than 8,000 bytes
NOTIFY_INTERVAL_S = 0.002
RECONNECT_MIN_S = 0.1
RECONNECT_MAX_S = 5.0
FLUSH_TIMEOUT_S = 1.0
SETTINGS = {"idle_session_timeout": "0"}

log = structlog.get_logger(__name__)


class Notifier:
    """Tells; `publish` never waits."""

    def __init__(self, server: Server) -> None:
        self.pid = -1
        self._server = server
        self._pending: set[str] = set()
        self._wake = asyncio.Event()
        self._stopping = False
        self._connection: Connection | None = None
        self._task = asyncio.create_task(self._run(), name="turnwright-journal-notifier")

    def publish(self, topics: Iterable[str] | None) -> None:
        """Tell of these topics soon; None is everything."""
        self._pending.update([EVERYTHING] if topics is None else topics)
        self._wake.set()

    async def stop(self) -> None:
        """Tell what is pending, for a second at most, and close."""
        self._stopping = True
        self._wake.set()
        await asyncio.wait([self._task], timeout=FLUSH_TIMEOUT_S)
        self._task.cancel()
        await asyncio.wait([self._task])
        await close(self._connection)

    async def _run(self) -> None:
        delay_s = RECONNECT_MIN_S
        while self._pending or not self._stopping:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._tell()
                delay_s = RECONNECT_MIN_S
                await asyncio.sleep(NOTIFY_INTERVAL_S)
            except (StoreError, *FAILURES) as error:
                log.warning("commit_not_told", why=str(error), retry_s=delay_s)
                self._wake.set()
                if self._connection is not None:
                    drop(self._connection)
                await asyncio.sleep(delay_s)
                delay_s = min(delay_s * 2, RECONNECT_MAX_S)

    async def _tell(self) -> None:
        if not self._pending:
            return
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._server.connect(**SETTINGS)
            self.pid = self._connection.get_server_pid()
        topics, self._pending = self._pending, set()  # what is published meanwhile is told next time
        try:
            whole = EVERYTHING in topics or len(topics) > TOPICS_MAX
            payload = EVERYTHING if whole else " ".join(sorted(topics))
            await self._connection.fetch(statement("postgres", "notify").sql, channel(self._server.schema), payload)
        except BaseException:
            self._pending |= topics
            raise


class Listener:
    """Hears, from the first `open` on, and says `heard(None)` whenever it may have missed something."""

    def __init__(self, server: Server, heard: Callable[[int | None, list[str] | None], None]) -> None:
        self._server = server
        self._heard = heard
        self._opening = asyncio.Lock()
        self._connection: Connection | None = None
        self._reconnect: asyncio.Task[None] | None = None
        self._stopped = False

    async def open(self) -> None:
        """Listen, if it does not yet."""
        async with self._opening:
            if self._connection is not None and not self._connection.is_closed():
                return
            connection = await self._server.connect(**SETTINGS)
            try:
                await connection.add_listener(channel(self._server.schema), self._notified)
            except FAILURES as error:
                connection.terminate()
                raise self._server.translated(error, "LISTEN") from error
            except BaseException:  # whoever wanted to listen went away
                connection.terminate()
                raise
            connection.add_termination_listener(self._lost)
            self._connection = connection

    async def stop(self) -> None:
        """Hear no more."""
        self._stopped = True
        if self._reconnect is not None:
            self._reconnect.cancel()
            await asyncio.wait([self._reconnect])
        await close(self._connection)

    def _notified(self, _connection: Any, pid: int, _channel: str, payload: Any) -> None:  # noqa: ANN401
        self._heard(pid, None if payload == EVERYTHING else str(payload).split())

    def _lost(self, _connection: Any) -> None:  # noqa: ANN401 - asyncpg's
        if not self._stopped and (self._reconnect is None or self._reconnect.done()):
            self._reconnect = asyncio.create_task(self._open_again(), name="turnwright-journal-listener")

    async def _open_again(self) -> None:
        delay_s, said = RECONNECT_MIN_S, ""
        while True:
            try:
                await self.open()
            except StoreError as error:
                if str(error) != said:
                    log.warning("commits_not_heard", why=str(error), then="it is tried again until it works")
                said = str(error)
                await asyncio.sleep(delay_s)
                delay_s = min(delay_s * 2, RECONNECT_MAX_S)
            else:
                self._heard(None, None)
                return
