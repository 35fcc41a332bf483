"""One watcher per worker stops operations that the journal has given up.

Rule: a cancel does not need Temporal. The watcher follows the threads this process works on, and stops an
operation when its turn is cancelled or ended, or its attempt is not the one that counts any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from turnwright.activities.runtime.settings import ActivitySettings
from turnwright.activities.runtime.stop import Stop
from turnwright.journal.control import ThreadControl
from turnwright.journal.errors import JournalError, StoreUnavailable
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Watched:
    """An attempt of an operation that runs in this process; `stop` is asked for when it is to end."""

    key: ThreadKey
    thread_id: int
    turn_id: str
    step: int
    ordinal: int
    call_id: str = ""
    seen_seq: int = 0
    stop: Stop = field(default_factory=Stop)

    def given_up_by(self, control: ThreadControl) -> bool:
        """Whether the journal does not want this attempt any more."""
        active = control.turn(self.turn_id)
        if active is None or active.step != self.step or active.status.phase == "cancelling":
            return True
        if not self.call_id:
            model = active.model
            return model is None or model.claim is None or model.ordinal != self.ordinal
        call = active.call(self.call_id)
        return call is None or call.claim is None or call.ordinal != self.ordinal


class Watcher:
    """Follows the threads of running operations."""

    def __init__(self, journal: Journal, settings: ActivitySettings) -> None:
        self._journal = journal
        self._settings = settings
        self._watched: set[Watched] = set()
        self._some = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow; harmless when it does."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="operation-watcher")

    async def stop(self) -> None:
        """Stop following; running operations are left alone."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    @contextmanager
    def watching(self, watched: Watched) -> Iterator[Watched]:
        """Follow an operation while the block runs."""
        self._watched.add(watched)
        self._some.set()
        try:
            yield watched
        finally:
            self._watched.discard(watched)
            if not self._watched:
                self._some.clear()

    async def _run(self) -> None:
        said = ""
        while True:
            await self._some.wait()
            try:
                await self._follow()
                said = ""
            except Exception as error:
                if str(error) != said:  # a store that is away for an hour is one line, not thousands
                    foreseen = isinstance(error, StoreUnavailable)
                    log.warning("watcher_cannot_read", error=str(error), exc_info=None if foreseen else error)
                said = str(error)
                await asyncio.sleep(self._settings.watch_poll_s)

    async def _follow(self) -> None:
        async with self._journal.watch() as changes:
            while self._watched:
                await self.look()
                await asyncio.sleep(self._settings.watch_interval_s)
                await changes.changed(self._settings.watch_poll_s)

    async def look(self) -> None:
        """Compare every running operation with the journal once."""
        running = list(self._watched)
        heads = await self._journal.heads({watched.thread_id for watched in running})
        moved = [w for w in running if heads.get(w.thread_id, 0) != w.seen_seq and w.stop.why is None]
        for key in {watched.key for watched in moved}:
            await self._compare(key, [watched for watched in moved if watched.key == key], heads)

    async def _compare(self, key: ThreadKey, attempts: list[Watched], heads: Mapping[int, int]) -> None:
        """Stop what the thread gave up. A thread nobody can read keeps no other one's attempts from their cancel."""
        try:
            row = await self._journal.thread(key)
        except StoreUnavailable:
            raise
        except JournalError:
            log.exception("watcher_cannot_read_thread", thread=key.canonical)
            for watched in attempts:
                watched.seen_seq = heads.get(watched.thread_id, 0)
            return
        for watched in attempts:
            if row is None or watched.given_up_by(row.control):
                watched.stop.ask("cancelled")
            watched.seen_seq = 0 if row is None else row.seq
