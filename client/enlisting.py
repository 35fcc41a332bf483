"""Which connections a submit may join, and how a statement runs on each.

Rule: the transaction is the caller's: nothing here begins, ends or marks one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turnwright.journal.errors import InvalidInput

if TYPE_CHECKING:
    from turnwright.journal.postgres.enlisting import Ask

NO_TRANSACTION = (
    "the connection is in no transaction, so there is nothing to join; begin one, or leave `connection` out to submit "
    "at once"
)


async def statements_of(connection: object) -> Ask:
    """What runs a statement in the connection's transaction.

    Args:
        connection: of asyncpg (also one acquired from its pool), or SQLAlchemy's `AsyncConnection` or `AsyncSession`
            over asyncpg.

    Raises:
        InvalidInput: it is something else, or is in no transaction.
    """
    import asyncpg  # noqa: PLC0415 - who has a file need not wait for it to load

    if isinstance(connection, asyncpg.Connection | asyncpg.pool.PoolConnectionProxy):
        return _of_asyncpg(connection)
    if (alchemy := sys.modules.get("sqlalchemy.ext.asyncio")) is not None:
        if isinstance(connection, alchemy.AsyncSession):
            connection = await connection.connection()
        if isinstance(connection, alchemy.AsyncConnection) and connection.dialect.driver == "asyncpg":
            return await _of_sqlalchemy(connection)
    raise InvalidInput(
        f"a submit cannot join a transaction of {type(connection).__module__}.{type(connection).__qualname__}; give a "
        "connection of asyncpg, or an AsyncConnection or AsyncSession of SQLAlchemy over asyncpg"
    )


def _of_asyncpg(connection: Any) -> Ask:  # noqa: ANN401 - it ships no types
    if connection.is_closed() or not connection.is_in_transaction():
        raise InvalidInput(NO_TRANSACTION)

    async def ask(sql: str, *params: object) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = await connection.fetch(sql, *params)
        return rows

    return ask


async def _of_sqlalchemy(connection: Any) -> Ask:  # noqa: ANN401 - not a dependency
    """It begins its transaction with its first statement, so that is looked for after one."""

    async def ask(sql: str, *params: object) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = (await connection.exec_driver_sql(sql, params)).fetchall()
        return rows

    await ask("SELECT 1")
    raw = (await connection.get_raw_connection()).driver_connection
    if not raw.is_in_transaction():
        raise InvalidInput(NO_TRANSACTION)
    return ask
