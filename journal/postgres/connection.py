"""How connections to the server are opened, and what its errors mean here.

Rule: every connection comes from here, so all of them have the journal's schema in front, a limit on each
wait, generic plans (a plan for each set of values cost a third of the speed of appends), and goes by indexes (what
is cheapest while a table is small or without statistics stays the plan when it has grown). Passwords never reach a
message.
"""

import contextlib
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from asyncpg import exceptions as pg

from turnwright.journal.errors import UNSTORABLE, InvalidInput, StoreCorrupt, StoreError, StoreUnavailable
from turnwright.journal.postgres.client import Connection, Pool

SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")
CONNECT_TIMEOUT_S = 10.0
COMMAND_TIMEOUT_S = 60.0
IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000
LOCK_TIMEOUT_MS = 15_000
CACHED_STATEMENTS = 512
BY_INDEX = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin")

RETRIED = (pg.SerializationError, pg.DeadlockDetectedError, pg.InvalidCachedStatementError)
# The connection is gone, or of no use any more, while the server may be well.
BROKEN = (
    pg.PostgresConnectionError,
    pg.IdleInTransactionSessionTimeoutError,
    pg.InterfaceError,
    pg.InternalClientError,
)
SURVIVED = (*RETRIED, pg.LockNotAvailableError)
FAILURES = (pg.PostgresError, pg.InterfaceError, pg.InternalClientError, OSError)
_LATER = (
    pg.PostgresConnectionError,
    pg.OperatorInterventionError,
    pg.InsufficientResourcesError,
    pg.LockNotAvailableError,
    pg.IdleInTransactionSessionTimeoutError,
    pg.ReadOnlySQLTransactionError,
    pg.InternalClientError,
    OSError,
    *RETRIED,
)
_ACCESS = (pg.InvalidAuthorizationSpecificationError, pg.InvalidCatalogNameError, pg.InsufficientPrivilegeError)
_MISSING = (pg.UndefinedTableError, pg.UndefinedColumnError, pg.InvalidSchemaNameError)
_CORRUPT = (pg.DataCorruptedError, pg.IndexCorruptedError)
_NO_VALUE = (UnicodeEncodeError, OverflowError)


@dataclass(frozen=True, slots=True)
class Server:
    """Where the journal is."""

    dsn: str
    schema: str

    def __post_init__(self) -> None:
        if not SCHEMA_NAME.fullmatch(self.schema):
            raise InvalidInput(f"{self.schema!r} cannot be the journal's schema; use a-z 0-9 _, at most 48 characters")

    @property
    def place(self) -> str:
        """The server and database for messages, without credentials."""
        parts = urlsplit(self.dsn)
        return f"{parts.netloc.rpartition('@')[2] or 'local'}{parts.path} ({self.schema})"

    async def connect(self, **settings: str) -> Connection:
        """One connection outside the pool, with these settings on top."""
        try:
            connection: Connection = await asyncpg.connect(self.dsn, **self._options(settings))
            return connection
        except (*FAILURES, ValueError) as error:
            raise self.translated(error) from error

    async def pool(self, connections_max: int) -> Pool:
        """The pool that scripts run on. Its connections are not reset on release: scripts leave nothing."""
        try:
            pool: Pool = await asyncpg.create_pool(
                self.dsn, min_size=1, max_size=connections_max, reset=_keep, **self._options({})
            )
            return pool
        except (*FAILURES, ValueError) as error:
            raise self.translated(error) from error

    def translated(self, error: BaseException, statement: str | None = None) -> StoreError | InvalidInput:
        """The same failure as one of our errors, with what to do about it."""
        if isinstance(error, pg.CharacterNotInRepertoireError) or isinstance(error.__cause__, _NO_VALUE):
            return InvalidInput(UNSTORABLE)
        at = f"{self.place}{f', statement {statement}' if statement else ''}: {str(error) or type(error).__name__}"
        if isinstance(error, _ACCESS):
            return StoreError(f"PostgreSQL refuses {at}; check user, password, database and their grants")
        if isinstance(error, _LATER) or _is_lost_connection(error):
            return StoreUnavailable(f"PostgreSQL is not available at {at}; check the server and try again")
        if isinstance(error, _MISSING):
            return StoreError(f"PostgreSQL has no journal of this version at {at}; run `turnwright journal migrate`")
        if isinstance(error, _CORRUPT):
            return StoreCorrupt(f"PostgreSQL at {at}")
        return StoreError(f"PostgreSQL at {at}")

    def _options(self, settings: dict[str, str]) -> dict[str, Any]:
        return {
            "timeout": CONNECT_TIMEOUT_S,
            "command_timeout": COMMAND_TIMEOUT_S,
            "statement_cache_size": CACHED_STATEMENTS,
            "max_cached_statement_lifetime": 0,
            "server_settings": {
                "application_name": "turnwright",
                "search_path": self.schema,
                "plan_cache_mode": "force_generic_plan",
                **dict.fromkeys(BY_INDEX, "off"),
                "idle_in_transaction_session_timeout": str(IDLE_IN_TRANSACTION_TIMEOUT_MS),
                "lock_timeout": str(LOCK_TIMEOUT_MS),
                "tcp_keepalives_idle": "10",
                "tcp_keepalives_interval": "5",
                "tcp_keepalives_count": "3",
                **settings,
            },
        }


async def close(connection: Connection | None) -> None:
    """Close it politely within a second, else hard."""
    if connection is None or connection.is_closed():
        return
    try:
        await connection.close(timeout=1.0)
    except FAILURES:
        connection.terminate()


def drop(connection: Connection) -> None:
    """Close it hard; a pool may have taken a broken one back already."""
    with contextlib.suppress(*FAILURES):
        connection.terminate()


def _is_lost_connection(error: BaseException) -> bool:
    return isinstance(error, pg.InterfaceError) and not isinstance(error, ValueError)


async def _keep(_: Connection) -> None:
    """Leave the connection as it is."""
