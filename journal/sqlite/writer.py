"""The one writing thread of a process, with group commit.

Rule: everything queued when the write lock is won goes into one transaction, each script behind a
savepoint of its own, so that a failing script undoes nothing but itself; nobody hears a result before the
COMMIT. A group is bounded in number and time, so that other processes get their turn.

While somebody watches, the thread wakes every few milliseconds and asks `PRAGMA data_version`, which
changes only by commits of other processes, for this is the only connection here that writes.
"""

import asyncio
import contextlib
import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.script import Script, Trail
from turnwright.journal.sqlite.locks import WriteLock
from turnwright.journal.sqlite.runner import Runner

GROUP_SCRIPTS_MAX = 256
GROUP_DURATION_S_MAX = 0.05
FOREIGN_COMMIT_POLL_S = 0.01
BLOCKED_CHECK_INTERVAL_S = 0.25


@dataclass(slots=True)
class Job:
    """A script that waits for its commit, or a task that manages transactions itself (a migration)."""

    future: asyncio.Future[Any]
    script: Callable[[], Script[Any]] | None = None
    task: Callable[[Runner], Any] | None = None
    queued_at_s: float = field(default_factory=time.monotonic)
    trail: Trail = field(default_factory=Trail)
    wrote: bool = False
    result: Any = None
    error: BaseException | None = None


class Events(Protocol):
    """What the writer tells its driver, on the driver's loop, and asks it."""

    def watched(self) -> bool:
        """Whether somebody watches; asked from the writer's thread."""
        ...

    def committed(self, jobs: list[Job]) -> None:
        """Jobs ended, well or not."""
        ...

    def changed_elsewhere(self) -> None:
        """Another process committed."""
        ...


class Writer:
    """Start it once; `submit` from the loop."""

    def __init__(
        self,
        runner: Runner,
        lock: WriteLock,
        events: Events,
        point: Callable[[str], None],
        lock_timeout_s: float,
    ) -> None:
        self._runner = runner
        self._lock = lock
        self._events = events
        self._point = point
        self._lock_timeout_s = lock_timeout_s
        self._loop = asyncio.get_running_loop()
        self._jobs: deque[Job] = deque()
        self._taking = threading.Lock()  # the loop fails the late ones while this thread takes the next
        self._wake = threading.Event()
        self._stopping = False
        self._abandoned = False
        self._blocked: asyncio.TimerHandle | None = None
        self._data_version = self._read_data_version()
        self._thread = threading.Thread(target=self._run, name="turnwright-journal-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job for the next group."""
        self._jobs.append(job)
        self._wake.set()

    def wake(self) -> None:
        """Look again at who watches."""
        self._wake.set()

    def stop(self, timeout_s: float) -> bool:
        """Finish what is queued and end; False when another process kept the lock for too long.

        Blocks; call it in a thread.
        """
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def abandon(self, why: str) -> None:
        """Give up on a thread that does not get the lock; it ends when it does."""
        self._abandoned = True
        self._unwatch_blocked()
        self._fail_queued(why)

    def _run(self) -> None:
        while True:
            self._wake.wait(FOREIGN_COMMIT_POLL_S if self._events.watched() else None)
            self._wake.clear()
            self._look_elsewhere()
            while self._jobs:
                self._serve()
                self._look_elsewhere()
            if self._stopping and not self._jobs:
                break
        self._lock.acquire()  # closing the last connection checkpoints
        self._runner.connection.close()
        self._lock.close()

    def _serve(self) -> None:
        jobs: list[Job] = []
        try:
            self._take_lock()
            try:
                self._commit_next(jobs)
            finally:
                self._lock.release()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it, and the thread goes on
            self._fail_group(jobs, error)
        self._tell(self._events.committed, jobs)

    def _commit_next(self, jobs: list[Job]) -> None:
        """Do what is next in the queue; every job taken ends up in `jobs`, with its outcome."""
        job = self._take(tasks=True)
        if job is not None and job.task is not None:
            jobs.append(job)
            job.result = job.task(self._runner)
        elif self._jobs:
            self._commit_group(jobs)

    def _commit_group(self, jobs: list[Job]) -> None:
        runner = self._runner
        try:
            self._point("begin")
            runner.control("BEGIN IMMEDIATE")
            deadline_s = time.monotonic() + GROUP_DURATION_S_MAX
            while job := self._next(len(jobs), deadline_s):
                jobs.append(job)
                self._run_savepoint(job)
            self._point("commit")
            runner.control("COMMIT")
        except BaseException:
            for job in jobs:
                job.wrote = False
            raise
        finally:
            if runner.connection.in_transaction:
                runner.control("ROLLBACK")
        self._point("committed")

    def _next(self, taken: int, deadline_s: float) -> Job | None:
        if taken == GROUP_SCRIPTS_MAX or (taken and time.monotonic() > deadline_s):
            return None
        while (job := self._take(tasks=False)) is not None:
            if not job.future.cancelled():
                return job
        return None

    def _take(self, *, tasks: bool) -> Job | None:
        """The next in the queue, if it is a task or if it is none, as asked for."""
        with self._taking:
            return self._jobs.popleft() if self._jobs and (self._jobs[0].task is not None) is tasks else None

    def _run_savepoint(self, job: Job) -> None:
        runner = self._runner
        assert job.script is not None
        before = runner.connection.total_changes
        runner.control("SAVEPOINT script")
        try:
            job.result = runner.run(job.script(), job.trail)
        except BaseException as error:
            job.error = error
            if not runner.connection.in_transaction:
                raise StoreUnavailable("the group of this transaction was rolled back; try again") from error
            runner.control("ROLLBACK TO script")
        runner.control("RELEASE script")
        job.wrote = job.error is None and runner.connection.total_changes != before

    def _fail_group(self, jobs: list[Job], error: BaseException) -> None:
        if not jobs:  # nothing began: the same awaits all who wait
            jobs += self._take_until(math.inf)
        for job in jobs:
            job.error = job.error or error

    def _fail_queued(self, why: str, *, queued_before_s: float = math.inf) -> None:
        """Answer jobs that no group has taken yet, oldest first."""
        failed = self._take_until(queued_before_s)
        for job in failed:
            job.error = StoreUnavailable(why)
        self._events.committed(failed)

    def _take_until(self, queued_before_s: float) -> list[Job]:
        """Everything that was queued before then."""
        taken: list[Job] = []
        with self._taking:
            while self._jobs and self._jobs[0].queued_at_s < queued_before_s:
                taken.append(self._jobs.popleft())
        return taken

    def _take_lock(self) -> None:
        if self._lock.try_acquire():
            return
        self._tell(self._watch_blocked)
        self._lock.acquire()
        self._tell(self._unwatch_blocked)

    def _watch_blocked(self) -> None:
        """Fail what has waited too long, naming who is in the way; again while the thread is blocked."""
        if self._abandoned:
            return
        late_s = time.monotonic() - self._lock_timeout_s
        self._fail_queued(
            f"process {self._lock.holder()} has held the journal's write lock for {self._lock_timeout_s:g} s; "
            "let it go on (it may be stopped) or kill it: its transaction is then undone",
            queued_before_s=late_s,
        )
        self._blocked = self._loop.call_later(BLOCKED_CHECK_INTERVAL_S, self._watch_blocked)

    def _unwatch_blocked(self) -> None:
        if self._blocked:
            self._blocked.cancel()
            self._blocked = None

    def _look_elsewhere(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # the next write says it
            version = self._read_data_version()
            if version != self._data_version:
                self._data_version = version
                self._tell(self._events.changed_elsewhere)

    def _read_data_version(self) -> int:
        (version,) = self._runner.connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _tell(self, callback: Callable[..., None], *args: Any) -> None:  # noqa: ANN401 - passed on as it is
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody listens any more
            self._loop.call_soon_threadsafe(callback, *args)
