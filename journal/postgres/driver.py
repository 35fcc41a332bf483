"""The PostgreSQL store: a pool for scripts, and a connection each for locks, for telling and for hearing.

Rule: this class only wires; the parts hold the rules. It belongs to the event loop that started it. It
needs sessions of its own: behind a pooler that shares them between transactions neither the locks nor
LISTEN work.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeVar

import structlog

from turnwright.journal.driver import Hook, Observer, Presence, tell
from turnwright.journal.errors import StoreError, StoreUnavailable
from turnwright.journal.postgres import migrating
from turnwright.journal.postgres.client import Connection, Pool
from turnwright.journal.postgres.connection import BROKEN, FAILURES, RETRIED, Server, drop
from turnwright.journal.postgres.holds import Holds, ServerHold
from turnwright.journal.postgres.locks import topic
from turnwright.journal.postgres.notices import Listener, Notifier
from turnwright.journal.postgres.runner import Runner
from turnwright.journal.script import Liveness, Script, Trail, find_dead, rows
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.watchers import Watch, Watchers

T = TypeVar("T")
SCHEMA = "turnwright"
CONNECTIONS_MAX = 10
ACQUIRE_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
TRIES_MAX = 5
SERVER_MIN = 140_000
RETRY_S_MAX = 0.05
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

log = structlog.get_logger(__name__)


class PostgresDriver:
    """A journal in a schema (see `turnwright.journal.driver.Driver`)."""

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = SCHEMA,
        connections_max: int = CONNECTIONS_MAX,
        sealer: Sealer | None = None,
    ) -> None:
        self.hook: Hook | None = None
        self.sealer = sealer or Sealer()
        self.observers: list[Observer] = []
        self._server = Server(dsn, schema)
        self._connections_max = connections_max
        self._pool: Pool | None = None
        self._notifier: Notifier | None = None
        self._listener: Listener | None = None
        self._running = 0
        self._idle = asyncio.Event()
        self._used: set[Connection] = set()
        self._holds = Holds(self._server, self._break_off)
        self._watchers = Watchers(self._listen)

    @property
    def dialect(self) -> Literal["postgres"]:
        """Which folder of statements it uses."""
        return "postgres"

    @property
    def schema(self) -> str:
        """The schema that holds the journal's tables."""
        return self._server.schema

    async def start(self) -> None:
        """Connect."""
        self._pool = await self._server.pool(self._connections_max)
        self._notifier = Notifier(self._server)
        self._listener = Listener(self._server, self._heard)
        try:
            version, durable = await self._server_facts(self._pool)
        except BaseException:
            await self.stop()
            raise
        log.info("journal_opened", place=self._server.place, postgres=version, synchronous_commit=durable)
        if durable == "off":
            log.warning("journal_may_lose_commits", why="synchronous_commit is off on this server; turn it on")

    async def stop(self) -> None:
        """Finish what was accepted, free every lock, disconnect."""
        pool, self._pool = self._pool, None
        if pool is None or self._notifier is None or self._listener is None:
            return
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                if self._running:
                    await self._idle.wait()
                await pool.close()
        except (TimeoutError, *FAILURES):
            pool.terminate()
        await self._listener.stop()
        await self._notifier.stop()
        await self._holds.stop()

    async def migrate(self, to: int | None = None) -> int:
        """Bring the tables up to this version of the code, or to step `to`."""
        version = await migrating.migrate(self._server, to)
        log.info("journal_migrated", place=self._server.place, version=version)
        return version

    async def schema_version(self) -> int:
        """The number of the last migration applied."""
        return await migrating.schema_version(self._server)

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Run it in one transaction, then tell who watches."""
        trail, began_s = Trail(), time.monotonic()
        result = await self._try(WRITE, script, trail)
        took_s = time.monotonic() - began_s
        topics = {topic(key) for key in trail.touched} or None
        self._watchers.wake(topics)
        if self._notifier is not None:
            self._notifier.publish(topics)
        tell(self.observers, trail.notes, took_s)
        return result

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Run it on one snapshot."""
        return await self._try(READ, script, Trail())

    def watch(self, keys: Collection[str] | None = None) -> Watch:
        """Watch for commits."""
        return Watch(self._watchers, None if keys is None else {topic(key) for key in keys})

    async def scrub(self) -> None:
        """Nothing: the server keeps what was erased until it vacuums, and in the logs and backups it makes."""

    async def hold_presence(self, presence_id: str, info: Mapping[str, Any], *, lease_s: float) -> ServerHold:
        """Appear to others."""
        return await self._holds.hold_presence(presence_id, info, lease_s)

    async def liveness(self, presences: Collection[str]) -> Mapping[str, Liveness]:
        """Who of these lives."""
        async with self._runner() as runner:
            return await runner.liveness("presence", frozenset(presences))

    async def presences(self, *, info: bool = True) -> list[Presence]:
        """Everybody who left a row."""
        return await self.read(_find_all if info else _find_names)

    async def try_lead(self, name: str, *, lease_s: float) -> ServerHold | None:
        """Take the lead, or None."""
        return await self._holds.try_lead(name, lease_s)

    async def leader(self, name: str) -> Liveness:
        """How whoever leads is doing."""
        async with self._runner() as runner:
            return (await runner.liveness("lead", frozenset([name])))[name]

    async def _server_facts(self, pool: Pool) -> tuple[str, str]:
        """Its version, if that is new enough, and whether it waits for the disk."""
        async with self._connection(pool) as connection:
            number = int(await connection.fetchval("SHOW server_version_num"))
            version = await connection.fetchval("SHOW server_version")
            if number < SERVER_MIN:
                raise StoreError(f"{self._server.place} is PostgreSQL {version}; the journal needs 14 or newer")
            return version, await connection.fetchval("SHOW synchronous_commit")

    async def _try(self, begin: str, script: Callable[[], Script[T]], trail: Trail) -> T:
        """Run it; again when the server chose it as the victim of a conflict, and a read once on another connection."""
        for tried in range(1, TRIES_MAX + 1):
            trail.clear()
            try:
                return await self._once(begin, script, trail)
            except StoreUnavailable as error:
                again = RETRIED if begin != READ or tried > 1 else (*RETRIED, *BROKEN)
                if tried == TRIES_MAX or not isinstance(error.__cause__, again):
                    raise
            await asyncio.sleep(random.uniform(0, RETRY_S_MAX))  # noqa: S311 - jitter
        raise AssertionError

    async def _once(self, begin: str, script: Callable[[], Script[T]], trail: Trail) -> T:
        async with self._runner() as runner:
            return await runner.transaction(begin, script, trail)

    @asynccontextmanager
    async def _runner(self) -> AsyncIterator[Runner]:
        pool = self._pool
        if pool is None:
            raise StoreUnavailable("the journal is not open; start the driver first")
        self._running += 1
        try:
            async with self._connection(pool) as connection:
                yield Runner(connection, self._server, self._point, self.sealer)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()
                self._idle.clear()

    @asynccontextmanager
    async def _connection(self, pool: Pool) -> AsyncIterator[Connection]:
        try:
            connection = await pool.acquire(timeout=ACQUIRE_TIMEOUT_S)
        except FAILURES as error:
            raise self._server.translated(error, "connect") from error
        self._used.add(connection)
        try:
            yield connection
        finally:
            self._used.discard(connection)
            await pool.release(connection)

    async def _break_off(self) -> None:
        """End what waits for a server that answers nothing: on connections that swallow everything it would wait for
        a minute, and what is asked anew goes by new ones.
        """
        if self._pool is not None:
            log.warning("store_silent", place=self._server.place, connections=len(self._used), then="they are dropped")
            await self._pool.expire_connections()
        for connection in list(self._used):
            drop(connection)

    async def _listen(self) -> None:
        if self._pool is None or self._listener is None:
            raise StoreUnavailable("the journal is not open; start the driver first")
        await self._listener.open()

    def _heard(self, pid: int | None, topics: list[str] | None) -> None:
        own = self._notifier is not None and pid == self._notifier.pid
        if not own:  # own commits woke at once
            self._watchers.wake(topics)

    async def _point(self, name: str) -> None:
        if self.hook is not None and (waiting := self.hook(name)) is not None:
            await waiting


def _find_all() -> Script[list[Presence]]:
    found = yield from rows("presences")
    alive = yield from find_dead(frozenset(name for name, _ in found))
    return [Presence(name, json.loads(info), alive[name]) for name, info in found]


def _find_names() -> Script[list[Presence]]:
    found = yield from rows("presence_names")
    alive = yield from find_dead(frozenset(name for (name,) in found))
    return [Presence(name, {}, alive[name]) for (name,) in found]
