"""Presences and leads as session advisory locks on a connection of their own, with beats in a table.

Rule: the lock says whether the holder lives, since the server frees it when the connection ends; the beat,
by the server's clock, says whether it moves. A connection that broke takes every lock with it, and a hold
that was lost never comes back by itself: its holder has to take it again, and to know that others may have
acted on its death. Whoever beats is the first to notice that the server is silent.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from turnwright.journal.driver import checked_hold_name
from turnwright.journal.errors import HoldLost, StoreError
from turnwright.journal.postgres.client import Connection
from turnwright.journal.postgres.connection import FAILURES, Server, close
from turnwright.journal.postgres.locks import lock_key
from turnwright.journal.statements import statement

DEAD_KEPT_S = 86_400.0
HOLD_TIMEOUT_S = 10.0
BEAT_TIMEOUT_S_MIN = 3.0
SETTINGS = {"idle_session_timeout": "0", "synchronous_commit": "off"}


class ServerHold:
    """A lock held by this process (see `turnwright.journal.driver.Hold`)."""

    def __init__(self, holds: "Holds", connection: Connection, kind: str, name: str, beat: tuple[Any, ...]) -> None:
        self.kind = kind
        self.released = False
        self._holds = holds
        self._name = name
        self._connection = connection
        self._beat = beat

    @property
    def name(self) -> str:
        """The presence id, or what is led."""
        return self._name

    @property
    def lost(self) -> bool:
        """True once it was released or its connection ended."""
        return self.released or self._connection.is_closed()

    async def beat(self, info: Mapping[str, Any] | None = None) -> None:
        """Write the server's time."""
        if self.lost:
            raise HoldLost(f"the connection that held {self._name!r} is gone; take it again")
        if info is not None:
            self._beat = (*self._beat[:2], json.dumps(dict(info)), self._beat[-1])
        lease_s = self._beat[-1]
        timeout_s = min(max(BEAT_TIMEOUT_S_MIN, lease_s), HOLD_TIMEOUT_S)
        try:
            await self._holds.run(self._connection, "beat", *self._beat, timeout_s=timeout_s)
        except StoreError as error:
            raise HoldLost(f"{error}; take it again") from error

    async def release(self) -> None:
        """Free the lock."""
        if not self.lost:
            await self._holds.free(self._connection, self)
        self.released = True


class Holds:
    """What this process holds, all on one connection.

    Args:
        server: where.
        on_silence: called when the server did not answer in time.
    """

    def __init__(self, server: Server, on_silence: Callable[[], Awaitable[None]]) -> None:
        self._server = server
        self._on_silence = on_silence
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        self._held: set[tuple[str, str]] = set()

    async def hold_presence(self, presence_id: str, info: Mapping[str, Any], lease_s: float) -> ServerHold:
        """Take a new id; clears away rows of the long dead."""
        hold = await self._take("presence", presence_id, info, lease_s)
        if hold is None:
            raise StoreError(f"presence {presence_id!r} is held already; use an id that nobody used before")
        return hold

    async def try_lead(self, name: str, lease_s: float) -> ServerHold | None:
        """Take the lead, or None."""
        return await self._take("lead", name, {}, lease_s)

    async def stop(self) -> None:
        """Free everything by ending the connection; rows of the dead stay a while."""
        await close(self._connection)
        self._connection = None

    async def run(
        self,
        connection: Connection,
        name: str,
        *params: Any,  # noqa: ANN401
        timeout_s: float = HOLD_TIMEOUT_S,
    ) -> list[Any]:
        """One statement on the connection of the locks; a failure ends the connection and so the locks."""
        try:
            async with self._turn:
                sql = statement("postgres", name).sql
                return list(await connection.fetch(sql, *params, timeout=timeout_s))
        except FAILURES as error:
            connection.terminate()
            if isinstance(error, TimeoutError):
                await self._on_silence()
            raise self._server.translated(error, name) from error

    async def free(self, connection: Connection, hold: ServerHold) -> None:
        """Unlock and remove the row."""
        await self.run(connection, "delete_presence", hold.kind, hold.name)
        await self.run(connection, "unlock", lock_key(self._server.schema, hold.kind, hold.name))
        self._held.discard((hold.kind, hold.name))

    async def _take(self, kind: str, name: str, info: Mapping[str, Any], lease_s: float) -> ServerHold | None:
        checked_hold_name(name)
        connection = await self._open()
        if (kind, name) in self._held:  # a session may take its own lock again, which would mean nothing
            return None
        self._held.add((kind, name))
        beat = (kind, name, json.dumps(dict(info)), lease_s)
        try:
            [(locked,)] = await self.run(connection, "try_lock", lock_key(self._server.schema, kind, name))
            if locked:
                await self.run(connection, "delete_dead_presences", DEAD_KEPT_S)
                await self.run(connection, "beat", *beat)
        except BaseException:
            connection.terminate()
            raise
        if not locked:
            self._held.discard((kind, name))
            return None
        return ServerHold(self, connection, kind, name, beat)

    async def _open(self) -> Connection:
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                self._held.clear()
                self._connection = await self._server.connect(**SETTINGS)
            return self._connection
