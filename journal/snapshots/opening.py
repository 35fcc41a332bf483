"""From a URL to its snapshot store.

    memory:                                            in this process
    file:///var/lib/shop/snapshots                     a folder of JSON files
    redis://:password@host:6379/0?prefix=shop:         Redis (`rediss://` with TLS, `unix://` a socket)
    postgresql+asyncpg://user:password@host/database?table=shop_snapshots
    mysql+asyncmy://…   mariadb+asyncmy://…   sqlite+aiosqlite:////var/lib/shop/snapshots.db

Rule: a store's driver is loaded when its URL is met, and an absent one is named with what installs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from turnwright.journal.errors import InvalidInput
from turnwright.journal.snapshots.files import FileSnapshots
from turnwright.journal.snapshots.memory import MemorySnapshots
from turnwright.journal.snapshots.port import SnapshotStore

REDIS = ("redis", "rediss", "unix")
SQL = ("postgresql+asyncpg", "mysql+asyncmy", "mariadb+asyncmy", "sqlite+aiosqlite")
WANTED = f"memory:, file:///folder, redis://…, or one of {', '.join(f'{scheme}://…' for scheme in SQL)}"


def checked_url(url: str) -> str:
    """The URL itself, if its kind is known; loads no driver. Raises `InvalidInput`."""
    scheme = _scheme(url)
    if scheme not in ("memory", "file", *REDIS, *SQL):
        raise InvalidInput(f"{scheme or 'no scheme'!r} is no store of snapshots; use {WANTED}")
    return url


def snapshots_at(url: str) -> SnapshotStore:
    """The store, not started yet.

    Raises:
        InvalidInput: the URL names no store, or its driver is not installed.
    """
    scheme = _scheme(checked_url(url))
    if scheme == "memory":
        return MemorySnapshots()
    if scheme == "file":
        return _files(url)
    if scheme in REDIS:
        return _redis(url)
    return _sql(url)


@asynccontextmanager
async def open_snapshots(url: str) -> AsyncIterator[SnapshotStore]:
    """The store at `url`, for as long as this is open.

    Raises:
        InvalidInput: the URL names no store, or its driver is not installed.
        StoreUnavailable: it cannot be reached.
    """
    store = snapshots_at(url)
    try:
        await store.start()
        yield store
    finally:
        await store.stop()


def _scheme(url: str) -> str:
    """Whatever stands behind it, which only its store can read."""
    scheme, colon, _ = url.partition(":")
    return scheme.lower() if colon else ""


def _files(url: str) -> SnapshotStore:
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/") or parts.query:
        raise InvalidInput("a folder of snapshots is named as file:///srv/shop/snapshots")
    return FileSnapshots(Path(unquote(parts.path)))


def _redis(url: str) -> SnapshotStore:
    try:
        from turnwright.journal.snapshots.redis import RedisSnapshots  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise _missing(error, "redis") from error
    return RedisSnapshots(url)


def _sql(url: str) -> SnapshotStore:
    try:
        from turnwright.journal.snapshots.sql import SqlSnapshots  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise _missing(error, "sql") from error
    return SqlSnapshots(url)


def _missing(error: ModuleNotFoundError, extra: str) -> InvalidInput:
    package = (error.name or "").partition(".")[0]
    return InvalidInput(f"these snapshots need {package}: pip install 'turnwright[{extra}]'")
