"""Threads that read, each with its own connection.

Rule: a read is one deferred transaction, so all of its statements see the same snapshot, and it never
waits for the writer.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from turnwright.journal.script import Script, Trail
from turnwright.journal.sqlite.connection import open_reader
from turnwright.journal.sqlite.runner import Runner

T = TypeVar("T")
READERS_MAX = 4


class Readers:
    """A pool of reading threads."""

    def __init__(
        self, path: Path, runner: Callable[[sqlite3.Connection], Runner], point: Callable[[str], None]
    ) -> None:
        self._path = path
        self._runner = runner
        self._point = point
        self._pool = ThreadPoolExecutor(READERS_MAX, thread_name_prefix="turnwright-journal-reader")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Run the script on one snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, script)

    def stop(self) -> None:
        """Wait for running reads and close. Blocks; call it in a thread."""
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            connection.close()

    def _read(self, script: Callable[[], Script[T]]) -> T:
        runner = self._own_runner()
        try:
            self._point("begin")
            runner.control("BEGIN")
            result = runner.run(script(), Trail())
            self._point("commit")
            return result
        finally:
            if runner.connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    runner.connection.execute("ROLLBACK")

    def _own_runner(self) -> Runner:
        runner: Runner | None = getattr(self._local, "runner", None)
        if runner is None:
            connection = open_reader(self._path)
            self._connections.append(connection)
            runner = self._local.runner = self._runner(connection)
        return runner
