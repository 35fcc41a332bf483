"""How connections to the file are opened, and what SQLite's errors mean here.

Rule: every connection of a process comes from here. `synchronous=FULL` because NORMAL loses acknowledged
commits in a power cut; readers never write and never checkpoint, so that only who holds the write lock
does (libraries up to 3.51.2 can corrupt a file when two connections reset the log at once). What is deleted gives
way to zeros (`secure_delete`): content that was erased stood in free pages of the file for ever.
"""

import sqlite3
import time
from pathlib import Path

from turnwright.journal.errors import UNSTORABLE, InvalidInput, StoreCorrupt, StoreError, StoreUnavailable

APPLICATION_ID = 0x54574A31
LIBRARY_MIN = (3, 37, 0)
READER_BUSY_TIMEOUT_S = 5.0
CACHED_STATEMENTS = 256

_PRAGMAS = """
    PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;
    PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = OFF
"""
# The latter two: a value that it has no form for.
FAILURES = (sqlite3.Error, UnicodeEncodeError, OverflowError)
_ACCESS = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
_LATER = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def check_library() -> None:
    """Refuse a SQLite library that lacks what the statements use."""
    if sqlite3.sqlite_version_info < LIBRARY_MIN:
        need = ".".join(map(str, LIBRARY_MIN))
        raise StoreError(
            f"this Python uses SQLite {sqlite3.sqlite_version}, the journal needs {need}; use a newer Python build"
        )


def open_writer(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """The process's one writing connection; makes the file if there is none."""
    if not path.parent.is_dir():
        raise StoreUnavailable(f"the folder of the journal {path} does not exist; create {path.parent}")
    connection = _connect(path, "rwc", busy_timeout_s)
    try:
        _check_owner(connection, path)
        connection.execute("PRAGMA page_size = 4096")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreError(f"{path} cannot use a write-ahead log ({mode}); put the journal on a local disk")
        connection.executescript(_PRAGMAS)
    except sqlite3.Error as error:
        connection.close()
        raise translated(error, path) from error
    except StoreError:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read."""
    connection = _connect(path, "rw", READER_BUSY_TIMEOUT_S)
    try:
        connection.executescript(f"{_PRAGMAS}; PRAGMA wal_autocheckpoint = 0; PRAGMA query_only = ON")
    except sqlite3.Error as error:
        connection.close()
        raise translated(error, path) from error
    return connection


def truncate_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the file and cut it off; False while a reader still needs it, who is not waited for.

    Only under the write lock.
    """
    (patience_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience_ms}")
    return not busy


def translated(error: Exception, path: Path, statement: str | None = None) -> StoreError | InvalidInput:
    """The same failure, one of `FAILURES`, as one of our errors, with what to do about it."""
    if not isinstance(error, sqlite3.Error):
        return InvalidInput(UNSTORABLE)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    where = f" (statement {statement})" if statement else ""
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(f"{path} is locked by a program that is not Turnwright{where}; end it and try again")
    if code in _ACCESS:
        return StoreUnavailable(f"{path} cannot be opened for writing; check the path and its permissions")
    if code in _LATER:
        return StoreUnavailable(f"{path}: {error}{where}; check the disk (space, health, mount) and try again")
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(f"{path} is not a SQLite database; point the journal URL at another file")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreCorrupt(f"{path}: {error}{where}")
    if "no such module" in str(error):
        return StoreError(
            f"this Python's SQLite has no full-text search ({error}); use a build of Python that has FTS5"
        )
    if "no such table" in str(error):
        return StoreError(f"{path} has no journal of this version ({error}); run `turnwright journal migrate`")
    return StoreError(f"{path}: {error}{where}")


def _connect(path: Path, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=CACHED_STATEMENTS,
        )
    except sqlite3.Error as error:
        raise translated(error, path) from error
    connection.create_function("now_us", 0, lambda: time.time_ns() // 1000)
    return connection


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and owner != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; point the journal URL at another file")
