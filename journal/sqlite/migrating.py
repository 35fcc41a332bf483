"""Bring the file's tables up to date; each step is one transaction under the write lock.

Rule: a step that is recorded is done, one that is not is not: both are in the same transaction.
"""

import secrets
import sqlite3
from collections.abc import Iterator

from turnwright.journal.sqlite.connection import APPLICATION_ID
from turnwright.journal.sqlite.runner import Runner
from turnwright.journal.statements import Migration, migrations

_RECORD = """
    CREATE TABLE IF NOT EXISTS migrations (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_us INTEGER NOT NULL
    ) STRICT
"""


def migrate(runner: Runner, to: int | None = None) -> int:
    """Apply what is missing, up to step `to`; returns the version reached."""
    done = schema_version(runner)
    for step in migrations("sqlite")[:to]:
        if step.version > done:
            _apply(runner, step)
    return schema_version(runner)


def schema_version(runner: Runner) -> int:
    """The last step applied; 0 for an empty file."""
    connection = runner.connection
    named = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
    return connection.execute("SELECT max(version) FROM migrations").fetchone()[0] or 0 if named else 0


def _apply(runner: Runner, step: Migration) -> None:
    runner.control("BEGIN IMMEDIATE")
    try:
        for sql in (f"PRAGMA application_id = {APPLICATION_ID}", _RECORD, *_split(step.sql)):
            runner.control(sql)
        connection = runner.connection
        connection.execute("INSERT INTO migrations VALUES (?, ?, now_us())", (step.version, step.name))
        if step.version == 1:
            connection.execute("INSERT INTO meta VALUES ('journal_id', ?)", (secrets.token_hex(8),))
        runner.control("COMMIT")
    except BaseException:
        if runner.connection.in_transaction:
            runner.control("ROLLBACK")
        raise


def _split(sql: str) -> Iterator[str]:
    """The statements of a file; `executescript` would commit before the first one."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    assert not pending.strip(), f"a migration ends within a statement: {pending!r}"
