"""Run a script's commands on a connection, in whatever thread owns it.

Rule: an error of the store ends the script there; a script cannot catch it, because the statement's
effect is unknown to it.
"""

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, assert_never

from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.script import Append, Batch, Command, FindDead, Liveness, Note, Query, Row, Script, Touch, Trail
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.sealing.transaction import sealed_script
from turnwright.journal.sqlite.connection import FAILURES, translated
from turnwright.journal.statements import statement

T = TypeVar("T")


class Runner:
    """One connection with what its scripts may ask for."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        liveness: Callable[[frozenset[str]], Mapping[str, Liveness]],
        point: Callable[[str], None],
        sealer: Sealer,
    ) -> None:
        self.connection = connection
        self._path = path
        self._liveness = liveness
        self._point = point
        self._sealer = sealer

    def run(self, script: Script[T], trail: Trail) -> T:
        """Drive the script to its end; what it leaves is added to `trail`."""
        answer: Any = None
        sealed = sealed_script(script, self._sealer)
        try:
            while True:
                answer = self._perform(sealed.send(answer), trail)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            sealed.close()

    def control(self, sql: str) -> None:
        """Run a statement that moves the transaction."""
        try:
            self.connection.execute(sql)
        except sqlite3.Error as error:
            raise translated(error, self._path, sql) from error

    def _perform(self, command: Command, trail: Trail) -> Any:  # noqa: ANN401 - each command has its own
        match command:
            case Query(name, params):
                return self._rows(name, params)
            case Batch(name, many):
                return self._many(name, many)
            case Append():
                return self._append(command)
            case FindDead(presences):
                self._point("find_dead")
                return self._liveness(presences)
            case Touch(keys):
                trail.touched |= keys
                return None
            case Note(what):
                trail.notes.append(what)
                return None
            case _:
                assert_never(command)

    def _rows(self, name: str, params: tuple[Any, ...]) -> list[Row]:
        self._point(name)
        try:
            return self.connection.execute(statement("sqlite", name).sql, params).fetchall()
        except FAILURES as error:
            raise translated(error, self._path, name) from error

    def _many(self, name: str, many: tuple[tuple[Any, ...], ...]) -> None:
        self._point(name)
        try:
            self.connection.executemany(statement("sqlite", name).sql, many)
        except FAILURES as error:
            raise translated(error, self._path, name) from error

    def _append(self, new: Append) -> int | None:
        moved = self._rows("append_head", (new.thread_id, new.expected_seq, *new.head))
        if not moved:
            return None
        counter = self._rows("append_counter", (new.session_id, len(new.entries)))
        if not counter:
            raise StoreCorrupt(f"session {new.session_id} has no counter")
        first: int = counter[0][0]
        keys = (new.thread_id, new.session_id)
        self._many("append_entry", tuple((*keys, first + n, *row[:12]) for n, row in enumerate(new.entries)))
        self._many("append_payload", tuple((new.thread_id, row.seq, *row[12:]) for row in new.entries))
        if new.texts:
            rows = ((new.thread_id, text.seq, new.session_id, *text[1:]) for text in new.texts)
            self._many("insert_text", tuple(rows))
        return first
