"""The SQLite store: one writing thread, a few reading ones, and a folder of locks beside the file.

Rule: this class only wires and translates; the parts hold the rules. It belongs to the event loop that
started it. `<journal>-locks/` is part of the journal: move it with the file, never while anything runs.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import structlog

from turnwright.journal.driver import Hook, Observer, Presence, tell
from turnwright.journal.errors import StoreError, StoreUnavailable
from turnwright.journal.script import Liveness, Script
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.sqlite.connection import check_library, open_writer, truncate_log
from turnwright.journal.sqlite.holds import FileHold, Holds
from turnwright.journal.sqlite.locks import WriteLock
from turnwright.journal.sqlite.merging import merge_some
from turnwright.journal.sqlite.migrating import migrate, schema_version
from turnwright.journal.sqlite.readers import Readers
from turnwright.journal.sqlite.runner import Runner
from turnwright.journal.sqlite.writer import Job, Writer
from turnwright.journal.watchers import Watch, Watchers

T = TypeVar("T")
LOCK_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 10.0
LOG_TRIES_MAX = 5
LOG_TRY_INTERVAL_S = 0.1

log = structlog.get_logger(__name__)


class SqliteDriver:
    """A journal in a file (see `turnwright.journal.driver.Driver`)."""

    def __init__(self, path: Path, *, lock_timeout_s: float = LOCK_TIMEOUT_S, sealer: Sealer | None = None) -> None:
        self.hook: Hook | None = None
        self.sealer = sealer or Sealer()
        self.observers: list[Observer] = []
        self.path = path.absolute()  # a tool may change the directory
        self._lock_timeout_s = lock_timeout_s
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._holds: Holds | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watchers = Watchers(self._listen)

    @property
    def dialect(self) -> Literal["sqlite"]:
        """Which folder of statements it uses."""
        return "sqlite"

    async def start(self) -> None:
        """Open the file, or make it."""
        check_library()
        self._loop = asyncio.get_running_loop()
        connection = await asyncio.to_thread(open_writer, self.path, self._lock_timeout_s)
        folder = self.path.with_name(f"{self.path.name}-locks")
        try:
            folder.mkdir(exist_ok=True)
            lock = WriteLock(folder)
        except OSError as error:
            connection.close()
            raise StoreUnavailable(f"the journal's locks cannot be made ({error}); check {folder}") from error
        self._holds = Holds(folder)
        self._readers = Readers(self.path, self._runner, self._point)
        self._writer = Writer(self._runner(connection), lock, self, self._point, self._lock_timeout_s)
        log.info("journal_opened", path=str(self.path), sqlite=sqlite3.sqlite_version)

    async def stop(self) -> None:
        """Finish what was accepted, free every lock, close."""
        writer, self._writer = self._writer, None
        if writer is None or self._readers is None or self._holds is None:
            return
        await asyncio.to_thread(self._readers.stop)
        ended = await asyncio.to_thread(writer.stop, STOP_TIMEOUT_S)
        if not ended:
            log.warning("journal_not_closed", path=str(self.path), why="another process holds the write lock")
            writer.abandon("the journal was closed while another process held its write lock")
        await self._holds.release()

    async def migrate(self, to: int | None = None) -> int:
        """Bring the tables up to this version of the code, or to step `to`."""
        version = await self.run_task(lambda runner: migrate(runner, to))
        log.info("journal_migrated", path=str(self.path), version=version)
        return version

    async def schema_version(self) -> int:
        """The number of the last migration applied."""
        return await self.run_task(schema_version)

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Run it in the next group."""
        result: T = await self._submit(Job(self._future(), script=script))
        return result

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Run it in a reading thread."""
        self._open_writer()
        assert self._readers is not None
        return await self._readers.read(script)

    def watch(self, keys: Collection[str] | None = None) -> Watch:
        """Watch for commits."""
        return Watch(self._watchers, keys)

    async def hold_presence(self, presence_id: str, info: Mapping[str, Any], *, lease_s: float) -> FileHold:
        """Appear to others."""
        return await asyncio.to_thread(self._open_holds().hold_presence, presence_id, info, lease_s)

    async def liveness(self, presences: Collection[str]) -> Mapping[str, Liveness]:
        """Who of these lives."""
        return await asyncio.to_thread(self._open_holds().liveness, presences)

    async def presences(self, *, info: bool = True) -> list[Presence]:
        """Everybody who left a file."""
        return await asyncio.to_thread(self._open_holds().presences, info=info)

    async def try_lead(self, name: str, *, lease_s: float) -> FileHold | None:
        """Take the lead, or None."""
        return await asyncio.to_thread(self._open_holds().try_lead, name, lease_s)

    async def leader(self, name: str) -> Liveness:
        """How whoever leads is doing."""
        return await asyncio.to_thread(self._open_holds().leader, name)

    async def run_task(self, task: Callable[[Runner], T]) -> T:
        """Run it on the writing connection under the write lock, outside any transaction (maintenance)."""
        result: T = await self._submit(Job(self._future(), task=task))
        return result

    async def scrub(self) -> None:
        """Merge the index of words, which keeps those of deleted texts; then cut the write-ahead log off.

        In the log the pages stand as they were before; readers are waited for a moment.
        """
        while not await self.run_task(merge_some):
            pass
        why = "somebody reads on an old snapshot"
        for _ in range(LOG_TRIES_MAX):
            try:
                if await self.run_task(lambda runner: truncate_log(runner.connection)):
                    return
            except (sqlite3.Error, StoreError) as error:
                why = str(error)
            await asyncio.sleep(LOG_TRY_INTERVAL_S)
        log.warning("erased_content_in_log", path=str(self.path), why=why)

    def committed(self, jobs: list[Job]) -> None:
        """Called by the writer: wake who watches, then answer who wrote."""
        for job in jobs:
            if job.wrote:
                self._watchers.wake(job.trail.touched or None)
        for job in jobs:
            if job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)
        for job in jobs:
            if job.wrote:
                tell(self.observers, job.trail.notes, time.monotonic() - job.queued_at_s)

    def changed_elsewhere(self) -> None:
        """Called by the writer: another process committed, which keys is not known."""
        self._watchers.wake(None)

    def watched(self) -> bool:
        """Asked by the writer: does anybody care for commits of other processes?"""
        return bool(self._watchers)

    async def _listen(self) -> None:
        self._open_writer().wake()

    def _future(self) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().create_future()

    async def _submit(self, job: Job) -> Any:  # noqa: ANN401 - what the script returns
        self._open_writer().submit(job)
        return await job.future

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise StoreUnavailable("the journal is not open; start the driver first")
        return self._writer

    def _open_holds(self) -> Holds:
        self._open_writer()
        assert self._holds is not None
        return self._holds

    def _runner(self, connection: sqlite3.Connection) -> Runner:
        assert self._holds is not None
        return Runner(connection, self.path, self._holds.liveness, self._point, self.sealer)

    def _point(self, name: str) -> None:
        """The hook, called in one of this driver's threads."""
        if self.hook is None:
            return
        waiting = self.hook(name)
        if waiting is not None:
            assert self._loop is not None
            asyncio.run_coroutine_threadsafe(_wait(waiting), self._loop).result()


async def _wait(waiting: Awaitable[None]) -> None:
    await waiting
