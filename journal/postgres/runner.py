"""Run scripts in transactions on a pool.

Rule: a script that ended in an error leaves no open transaction behind, also when the task was cancelled
in the middle of a statement; a connection that cannot promise that is thrown away.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, assert_never

from turnwright.journal.errors import StoreCorrupt, StoreError, StoreUnavailable
from turnwright.journal.postgres.client import Connection
from turnwright.journal.postgres.connection import FAILURES, SURVIVED, Server, drop
from turnwright.journal.postgres.locks import lock_key
from turnwright.journal.script import Append, Batch, Command, FindDead, Liveness, Note, Query, Row, Script, Touch, Trail
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.sealing.transaction import sealed_script
from turnwright.journal.statements import statement

T = TypeVar("T")
ROLLBACK_TIMEOUT_S = 5.0
RECONNECT_S = 3.0


class Runner:
    """One connection for the time of one transaction."""

    def __init__(
        self, connection: Connection, server: Server, point: Callable[[str], Awaitable[None]], sealer: Sealer
    ) -> None:
        self._connection = connection
        self._server = server
        self._point = point
        self._sealer = sealer

    async def transaction(self, begin: str, script: Callable[[], Script[T]], trail: Trail) -> T:
        """Run the script between `begin` and COMMIT."""
        try:
            await self._point("begin")
            await self._control(begin)
            result = await self._run(script(), trail)
            await self._point("commit")
            if await self._control("COMMIT") != "COMMIT":  # the server answers an aborted one with ROLLBACK
                raise StoreError(f"PostgreSQL at {self._server.place} did not commit; see the server's log")
        except BaseException as error:
            await self._undo(error)
            raise
        await self._point("committed")
        return result

    async def _run(self, script: Script[T], trail: Trail) -> T:
        answer: Any = None
        sealed = sealed_script(script, self._sealer)
        try:
            while True:
                answer = await self._perform(sealed.send(answer), trail)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            sealed.close()

    async def _perform(self, command: Command, trail: Trail) -> Any:  # noqa: ANN401 - each has its own
        match command:
            case Query(name, params):
                return await self._rows(name, params)
            case Batch(name, many):
                return await self._many(name, many)
            case Append():
                return await self._append(command)
            case FindDead(presences):
                return await self.liveness("presence", presences)
            case Touch(keys):
                trail.touched |= keys
                return None
            case Note(what):
                trail.notes.append(what)
                return None
            case _:
                assert_never(command)

    async def liveness(self, kind: str, names: frozenset[str]) -> Mapping[str, Liveness]:
        """Who of these holds its lock, and how long ago it moved."""
        keys = [lock_key(self._server.schema, kind, name) for name in names]
        found = await self._rows("liveness", (kind, list(names), keys))
        return {name: _liveness(*facts) for name, *facts in found}

    async def _rows(self, name: str, params: tuple[Any, ...]) -> list[Row]:
        await self._point(name)
        try:
            return [tuple(row) for row in await self._connection.fetch(statement("postgres", name).sql, *params)]
        except FAILURES as error:
            raise self._server.translated(error, name) from error

    async def _many(self, name: str, many: tuple[tuple[Any, ...], ...]) -> None:
        if not many:
            return
        await self._point(name)
        try:
            await self._connection.executemany(statement("postgres", name).sql, many)
        except FAILURES as error:
            raise self._server.translated(error, name) from error

    async def _append(self, new: Append) -> int | None:
        columns = tuple(zip(*new.entries, strict=True)) or ((),) * 15
        where = (new.thread_id, new.session_id, new.expected_seq)
        params = (*where, *new.head, len(new.entries), *columns, *zip(*new.texts, strict=True))
        [(moved, first)] = await self._rows("append_with_texts" if new.texts else "append", params)
        if not moved:
            return None
        if first is None:
            raise StoreCorrupt(f"session {new.session_id} has no counter")
        return int(first)

    async def _control(self, sql: str) -> str:
        try:
            return await self._connection.execute(sql)
        except FAILURES as error:
            raise self._server.translated(error, sql) from error

    async def _undo(self, why: BaseException) -> None:
        connection = self._connection
        try:
            broken = isinstance(why, StoreUnavailable) and not isinstance(why.__cause__, SURVIVED)
            if broken or connection.is_closed():
                drop(connection)
            elif connection.is_in_transaction() or isinstance(why, asyncio.CancelledError):  # perhaps at its BEGIN
                await connection.execute("ROLLBACK", timeout=ROLLBACK_TIMEOUT_S)
        except FAILURES:
            drop(connection)
        except BaseException:
            drop(connection)
            raise


def _liveness(held: bool, age_s: float | None, lease_s: float | None, server_age_s: float) -> Liveness:  # noqa: FBT001
    """A lock may be free because a connection broke or the server was restarted: who lives takes it again at once."""
    if age_s is None or lease_s is None:
        return Liveness("alive" if held else "dead", age_s)
    if held:
        return Liveness("lapsed" if age_s > lease_s else "alive", age_s)
    if server_age_s < RECONNECT_S:
        return Liveness("alive", age_s)
    return Liveness("lapsed" if age_s < RECONNECT_S else "dead", age_s)
