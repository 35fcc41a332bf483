"""Statements are files: one each, named as scripts name them, `$1` to `$n` for the parameters.

`sql/<dialect>/` overlays `sql/shared/`. A comment on top says what the parameters and columns are.
Migrations stand in `sql/<dialect>/migrations/`, numbered without gaps.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from turnwright.journal.errors import StoreError

Dialect: TypeAlias = Literal["sqlite", "postgres"]

FOLDER = Path(__file__).parent / "sql"
_PLACEHOLDER = re.compile(r"\$(\d+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in the words of its dialect."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; `version` is the number in its file's name."""

    version: int
    name: str
    sql: str


@cache
def statements(dialect: Dialect) -> Mapping[str, Statement]:
    """Every statement of a dialect by its name."""
    files = [path for folder in ("shared", dialect) for path in sorted((FOLDER / folder).glob("*.sql"))]
    return {path.stem: _read(path, dialect) for path in files}


def statement(dialect: Dialect, name: str) -> Statement:
    """One statement, or `StoreError` naming the file that is missing."""
    found = statements(dialect).get(name)
    if found is None:
        raise StoreError(f"no statement is named {name!r}; add journal/sql/{dialect}/{name}.sql or correct the script")
    return found


@cache
def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """The steps from an empty store to this version's schema, in order."""
    paths = sorted((FOLDER / dialect / "migrations").glob("*.sql"))
    steps = tuple(Migration(int(path.stem[:4]), path.stem, path.read_text("utf-8")) for path in paths)
    assert [step.version for step in steps] == list(range(1, len(steps) + 1)), "a migration number is missing"
    return steps


def _read(path: Path, dialect: Dialect) -> Statement:
    lines = path.read_text("utf-8").splitlines()
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip().removesuffix(";")
    if dialect == "sqlite":
        sql = _PLACEHOLDER.sub(r"?\1", sql)
    return Statement(path.stem, sql)
