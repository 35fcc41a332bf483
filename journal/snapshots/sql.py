"""Snapshots in a database, through SQLAlchemy: PostgreSQL, MySQL or MariaDB, SQLite.

Rule: each statement is a transaction of its own, and writes only where the version still is what was judged; who
comes second judges anew. So no lock is held, and one who dies leaves none. The key is a digest: databases fold
cases and trim spaces, and their ids would meet. A deleted row stays, empty, and takes nothing any more.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Collection
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Executable,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Unicode,
    delete,
    func,
    insert,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InvalidRequestError,
    NoSuchModuleError,
    SQLAlchemyError,
)
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from turnwright.journal.errors import InvalidInput, SnapshotGone, StoreError, StoreUnavailable
from turnwright.journal.ids import ID_PART_CHARACTERS_MAX, SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Kept, Policy, checked_policy, judge, kept
from turnwright.journal.snapshots.snapshot import (
    Head,
    Offer,
    Snapshot,
    SnapshotKey,
    digest_of,
    unreadable,
    whole,
)

TABLE = "turnwright_snapshots"
TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
PAYLOAD_BYTES_MAX = 2**32 - 1
DIGEST = 64
TRIES_MAX = 1_000
PAGE_KEYS = 500
SQLITE_WAIT_S = 30
CONNECTIONS_MAX = 4
PLACE, OWNER = "place", "journal"
_PARTS = ("session", "tenant", "agent_id", "session_id", "thread_id", "state_key")
_OF_NO_KEY = {**dict.fromkeys(_PARTS, ""), "as_of_seq": 0, "version": 0, "deleted": 1, "payload": b""}


class SqlSnapshots:
    """Rows of one table, which is made if it is not there; its name is the `table` of the URL."""

    def __init__(self, url: str) -> None:
        named = _parsed(url)
        table = named.query.get("table", TABLE)
        if not isinstance(table, str) or TABLE_NAME.fullmatch(table) is None:
            raise InvalidInput(f"{table!r} cannot name the table of snapshots; use letters, digits and _")
        shown = {name: value for name, value in named.query.items() if "pass" not in name}
        self.name = named.set(query=shown)._replace(username=None, password=None).render_as_string()
        self._metadata = MetaData()
        self._table = _table(table, self._metadata)
        self._engine = _engine(named.difference_update_query(["table"]))

    async def start(self) -> None:
        """Connect, and make the table if there is none."""
        try:
            async with self._engine.connect() as connection:
                await connection.run_sync(self._metadata.create_all)
        except (SQLAlchemyError, OSError) as error:
            if not await self._is_there():  # another made it at the same time
                raise _told(error) from error

    async def stop(self) -> None:
        """Disconnect."""
        await self._engine.dispose()

    async def place_id(self) -> str:
        """See `SnapshotStore.place_id`."""
        return await self._said(PLACE, uuid4().hex)

    async def owner(self, claimed_by: str = "") -> str:
        """See `SnapshotStore.owner`."""
        return await self._said(OWNER, claimed_by)

    async def load(self, key: SnapshotKey) -> Snapshot | None:
        """See `SnapshotStore.load`."""
        t, place = self._table.c, self._place(key)
        columns = (t.version, t.as_of_seq, t.sha256, t.deleted, t.payload)
        row = await self._first(select(*columns).where(t.id == key.digest))
        if row is None or row[3]:
            return None
        return whole(key, _head(row, place), bytes(row[4]), place)

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        """See `SnapshotStore.put`."""
        checked_policy(policy, expected_version)
        place = self._place(key)
        offer.checked()
        for _ in range(TRIES_MAX):
            stored = await self._stored(key, place)
            done = kept(stored, judge(stored, offer, policy, expected_version), policy, offer, place)
            if not done.written or await self._write(
                key, stored, Head(done.version, offer.as_of_seq, offer.sha256), offer.payload
            ):
                return done
        raise StoreUnavailable(f"others write the snapshot at {place} all the time; try again")

    async def remove(self, key: SnapshotKey, version: int | None = None) -> bool:
        """See `SnapshotStore.remove`."""
        t = self._table.c
        statement = delete(self._table).where(t.id == key.checked().digest, t.deleted == 0)
        return await self._run(statement if version is None else statement.where(t.version == version)) > 0

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:
        """See `SnapshotStore.delete_session`."""
        t, of_it = self._table.c, digest_of(session.checked().canonical)
        gone = {"deleted": 1, "payload": b"", "sha256": "", "version": t.version + 1}
        for thread in threads:  # before the rows are counted: who comes later finds this one
            try:
                await self._run(
                    insert(self._table).values(**_row(SnapshotKey(thread)), **{**gone, "version": 0, "as_of_seq": 0})
                )
            except IntegrityError:
                continue  # it is there, and among those below
        return await self._run(update(self._table).where(t.session == of_it, t.deleted == 0).values(**gone))

    async def revive_session(self, session: SessionKey) -> None:
        """See `SnapshotStore.revive_session`."""
        t = self._table.c
        await self._run(delete(self._table).where(t.session == digest_of(session.checked().canonical), t.deleted == 1))

    async def every_key(self) -> AsyncIterator[SnapshotKey]:
        """See `SnapshotStore.every_key`."""
        t, after = self._table.c, ""
        parts = (t.tenant, t.user_id, t.agent_id, t.session_id, t.thread_id, t.state_key)
        while True:
            page = select(t.id, *parts).where(t.id > after, t.deleted == 0).order_by(t.id).limit(PAGE_KEYS)
            rows = await self._rows(page)
            for _, *said in rows:
                found = _key(said)
                if found is not None:
                    yield found
            after = rows[-1][0] if rows else after
            if len(rows) < PAGE_KEYS:
                return

    async def _said(self, name: str, said: str) -> str:
        """What stands in a row that is no key's: `said`, if nothing did."""
        find = select(self._table.c.sha256).where(self._table.c.id == name)
        row = await self._first(find)
        if row is None and said:
            with contextlib.suppress(IntegrityError):  # another made it at the same time
                await self._run(insert(self._table).values(**_OF_NO_KEY, id=name, sha256=said))
            row = await self._first(find)
        return "" if row is None else str(row[0])

    async def _stored(self, key: SnapshotKey, place: str) -> Head | None:
        t = self._table.c
        row = await self._first(select(t.version, t.as_of_seq, t.sha256, t.deleted).where(t.id == key.digest))
        if row is not None and row[3]:
            raise SnapshotGone(place)
        return None if row is None else _head(row, place)

    async def _write(self, key: SnapshotKey, stored: Head | None, head: Head, payload: bytes) -> bool:
        """Whether it was written: what was judged is still there."""
        t = self._table.c
        new = {"version": head.version, "as_of_seq": head.as_of_seq, "sha256": head.sha256, "payload": payload}
        if stored is not None:
            where = (t.id == key.digest, t.version == stored.version, t.deleted == 0)
            return await self._run(update(self._table).where(*where).values(**new)) == 1
        try:
            return await self._run(insert(self._table).values(**_row(key), **new, deleted=0)) == 1
        except IntegrityError:
            return False

    async def _first(self, statement: Executable) -> Any:  # noqa: ANN401 - a row
        found = await self._rows(statement)
        return found[0] if found else None

    async def _rows(self, statement: Executable) -> list[Any]:
        try:
            async with self._engine.connect() as connection:
                return list((await connection.execute(statement)).all())
        except (SQLAlchemyError, OSError) as error:
            raise _told(error) from error

    async def _run(self, statement: Executable) -> int:
        """How many rows it changed. Raises `IntegrityError` as it is."""
        try:
            async with self._engine.connect() as connection:
                return int((await connection.execute(statement)).rowcount)
        except IntegrityError:
            raise
        except (SQLAlchemyError, OSError) as error:
            raise _told(error) from error

    async def _is_there(self) -> bool:
        try:
            await self._rows(select(func.count()).select_from(self._table))
        except StoreError:
            return False
        return True

    def _place(self, key: SnapshotKey) -> str:
        return f"{self.name} {key.checked().canonical}"


def _table(name: str, metadata: MetaData) -> Table:
    """`id` and `session` are digests of the key and of its session; the ids beside them are for people."""
    part = Unicode(ID_PART_CHARACTERS_MAX)
    return Table(
        name,
        metadata,
        Column("id", String(DIGEST), primary_key=True),
        Column("session", String(DIGEST), nullable=False, index=True),
        Column("tenant", part, nullable=False),
        Column("user_id", part, nullable=True),
        Column("agent_id", part, nullable=False),
        Column("session_id", part, nullable=False),
        Column("thread_id", part, nullable=False),
        Column("state_key", part, nullable=False),
        Column("as_of_seq", BigInteger, nullable=False),
        Column("version", BigInteger, nullable=False),
        Column("sha256", String(DIGEST), nullable=False),
        Column("deleted", SmallInteger, nullable=False),
        Column("payload", LargeBinary(PAYLOAD_BYTES_MAX), nullable=False),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # What it says may be a part of a password.
        raise InvalidInput("the URL of the snapshots names no database: see its host and port") from None


def _engine(url: URL) -> AsyncEngine:
    waits = {"timeout": SQLITE_WAIT_S} if url.get_backend_name() == "sqlite" else {}
    try:
        return create_async_engine(
            url,
            isolation_level="AUTOCOMMIT",
            pool_size=CONNECTIONS_MAX,
            pool_pre_ping=True,
            hide_parameters=True,  # an error may be logged, and a state never is
            connect_args=waits,
        )
    except ModuleNotFoundError as error:
        raise InvalidInput(f"these snapshots need {error.name}: pip install 'turnwright[sql]'") from error
    except (ArgumentError, NoSuchModuleError, InvalidRequestError, TypeError) as error:
        raise InvalidInput(f"the URL of the snapshots names no database: {error}") from error


def _row(key: SnapshotKey) -> dict[str, Any]:
    tenant, user, agent, session, thread, state_key = key.parts
    return {
        "id": key.digest,
        "session": digest_of(key.thread.session_key.canonical),
        "tenant": tenant,
        "user_id": user,
        "agent_id": agent,
        "session_id": session,
        "thread_id": thread,
        "state_key": state_key,
    }


def _key(parts: list[Any]) -> SnapshotKey | None:
    try:
        return SnapshotKey.of_parts(parts)
    except (ValueError, TypeError):
        return None


def _head(row: Any, place: str) -> Head:  # noqa: ANN401 - a row
    try:
        return Head(int(row[0]), int(row[1]), str(row[2]))
    except (ValueError, TypeError) as error:
        raise unreadable(place, "its columns are not those that were written") from error


def _told(error: Exception) -> StoreError:
    """What the database says, without the statement and what was in it."""
    said = error.orig if isinstance(error, DBAPIError) else error
    away = not isinstance(error, SQLAlchemyError) or isinstance(error, DBAPIError)
    message = f"the database of the snapshots does not do it: {type(said).__name__}: {str(said)[:300]}"
    return StoreUnavailable(message) if away else StoreError(message)
