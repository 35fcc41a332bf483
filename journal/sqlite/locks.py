"""Locks between the processes of one machine, as files beside the journal that the kernel frees at death.

Rule: `flock`, never on the journal file itself and never POSIX record locks: SQLite uses those, and
closing any descriptor of the file drops them all.

`WriteLock` is a turnstile of two files. Who wants to write waits in `queue` first, then for `writer`, and
leaves `queue` once it has `writer`. A process that writes in a tight loop must pass `queue` again, where
the next one already stands, so nobody starves (SQLite's own busy handler lets that happen).
"""

import contextlib
import fcntl
import os
from pathlib import Path

_SIGNATURE_BYTES = 20


class WriteLock:
    """The right to write to the file; one holder on this machine. Used by one thread of a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue = open_lock(folder / "queue")
        self._writer = open_lock(folder / "writer")

    def try_acquire(self) -> bool:
        """Take it if nobody has it and nobody waits for it."""
        if not try_lock(self._queue):
            return False
        try:
            if not try_lock(self._writer):
                return False
        finally:
            unlock(self._queue)
        _sign(self._writer)
        return True

    def acquire(self) -> None:
        """Wait in line for it, without a limit: `holder` says for whom."""
        fcntl.flock(self._queue, fcntl.LOCK_EX)
        _sign(self._queue)
        try:
            fcntl.flock(self._writer, fcntl.LOCK_EX)
        finally:
            unlock(self._queue)
        _sign(self._writer)

    def release(self) -> None:
        """Let the next one in."""
        unlock(self._writer)

    def holder(self) -> int | None:
        """The process that stands in the way, to name it in an error; None when nobody does."""
        for name in ("writer", "queue"):
            descriptor = open_lock(self._folder / name)
            try:
                if not try_lock(descriptor, fcntl.LOCK_SH):
                    return int(os.pread(descriptor, _SIGNATURE_BYTES, 0) or b"0")
            finally:
                os.close(descriptor)
        return None

    def close(self) -> None:
        """Give everything back."""
        os.close(self._queue)
        os.close(self._writer)


def open_lock(path: Path) -> int:
    """A descriptor of the lock file, made if there is none; no child inherits it."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock it now or not at all."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Give it back."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _sign(descriptor: int) -> None:
    """Only for `holder`: on a full disk the lock is held all the same, and must be given back as usual."""
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, b"%-*d" % (_SIGNATURE_BYTES, os.getpid()), 0)
