"""Bring the schema's tables up to date.

Rule: one process migrates at a time, each step is one transaction together with its record.
"""

import secrets

from turnwright.journal.postgres.client import Connection
from turnwright.journal.postgres.connection import FAILURES, Server, close
from turnwright.journal.postgres.locks import lock_key
from turnwright.journal.statements import Migration, migrations

_RECORD = """
    CREATE TABLE IF NOT EXISTS migrations (
        version integer PRIMARY KEY, name text NOT NULL, applied_us bigint NOT NULL
    )
"""
_DONE = "INSERT INTO migrations VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"


async def migrate(server: Server, to: int | None = None) -> int:
    """Apply what is missing, up to step `to`; returns the version reached."""
    connection = await server.connect()
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", lock_key(server.schema, "migrate", ""))
        if not await _exists(connection, "SELECT FROM pg_namespace WHERE nspname = $1", server.schema):
            await connection.execute(f"CREATE SCHEMA {server.schema}")
        await connection.execute(_RECORD)
        done = await _version(connection)
        for step in migrations("postgres")[:to]:
            if step.version > done:
                await _apply(connection, step)
        return await _version(connection)
    except FAILURES as error:
        raise server.translated(error, "migrate") from error
    finally:
        await close(connection)


async def schema_version(server: Server) -> int:
    """The last step applied; 0 for an empty schema."""
    connection = await server.connect()
    try:
        if not await _exists(connection, "SELECT WHERE to_regclass($1) IS NOT NULL", f"{server.schema}.migrations"):
            return 0
        return await _version(connection)
    except FAILURES as error:
        raise server.translated(error, "schema_version") from error
    finally:
        await close(connection)


async def _apply(connection: Connection, step: Migration) -> None:
    async with connection.transaction():
        await connection.execute(step.sql)
        await connection.execute(_DONE, step.version, step.name)
        if step.version == 1:
            await connection.execute("INSERT INTO meta VALUES ('journal_id', $1)", secrets.token_hex(8))


async def _version(connection: Connection) -> int:
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM migrations"))


async def _exists(connection: Connection, query: str, *params: str) -> bool:
    return bool(await connection.fetch(query, *params))
