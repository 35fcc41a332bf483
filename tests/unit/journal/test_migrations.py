"""Migrations only add, so code of before works on with the tables of after, and can be gone back to."""

import re
from collections.abc import Iterator
from typing import get_args

from turnwright.journal.statements import Dialect, migrations

ADDITIONS = (
    re.compile(r"CREATE VIRTUAL TABLE \w+ USING .+", re.DOTALL),
    re.compile(r"CREATE (UNIQUE )?INDEX \w+ ON .+", re.DOTALL),
    re.compile(r"CREATE (UNLOGGED )?TABLE \w+ \(.+", re.DOTALL),
    re.compile(r"ALTER TABLE \w+( ADD COLUMN \w+ [^,]+,?)+", re.DOTALL),
)
TRIGGER = re.compile(r"CREATE TRIGGER \w+ AFTER (INSERT|DELETE) ON (\w+) BEGIN .+; END", re.DOTALL)
NOT_USED_BEFORE = {"inbox"}  # made by the first migration, written by nobody before the fourth


def _split(sql: str) -> Iterator[str]:
    """The statements, each without its semicolon; the body of a trigger ends with one of its own."""
    pending = ""
    for part in sql.split(";"):
        pending += part
        if pending.lstrip().startswith("CREATE TRIGGER") and part.strip() != "END":
            pending += ";"
            continue
        yield pending
        pending = ""


def later_statements() -> Iterator[tuple[str, str]]:
    """The statements of all migrations but the first, without comments."""
    for dialect in get_args(Dialect):
        for step in migrations(dialect)[1:]:
            words = re.sub(r"--[^\n]*", "", step.sql)
            yield from ((f"{dialect} {step.name}", " ".join(one.split())) for one in _split(words) if one.strip())


def test_a_migration_takes_nothing_away() -> None:
    """It may fill columns that it has added itself."""
    added: set[tuple[str, str, str]] = set()
    for where, sql in later_statements():
        table, *columns = re.split(r",? ?ADD COLUMN ", sql.removeprefix("ALTER TABLE "))
        added |= {(where, table.strip(), column.split()[0]) for column in columns}
        filling = re.fullmatch(r"UPDATE (\w+) SET ((\w+ = \(SELECT [^;]+\)(, )?)+)", sql)
        if filling is None:
            assert TRIGGER.fullmatch(sql) or any(form.fullmatch(sql) for form in ADDITIONS), (where, sql)
        else:
            filled = re.findall(r"(\w+) = \(SELECT", filling[2])
            assert {(where, filling[1], column) for column in filled} <= added, (where, sql)


def test_a_trigger_does_nothing_to_what_older_code_writes() -> None:
    made = {found[1] for _, sql in later_statements() if (found := re.match(r"CREATE TABLE (\w+)", sql))}
    for where, sql in later_statements():
        trigger = TRIGGER.fullmatch(sql)
        assert trigger is None or trigger[2] in made, (where, sql)


def test_older_code_may_leave_out_every_column_that_was_added() -> None:
    for where, sql in later_statements():
        table, *columns = re.split(r",? ?ADD COLUMN ", sql.removeprefix("ALTER TABLE "))
        for column in columns:
            optional = "NOT NULL" not in column or "DEFAULT" in column
            assert optional or table.strip() in NOT_USED_BEFORE, (where, column)


def test_an_index_that_was_added_refuses_nothing_older_code_writes() -> None:
    made = {found[1] for _, sql in later_statements() if (found := re.match(r"CREATE TABLE (\w+)", sql))}
    for where, sql in later_statements():
        unique = re.match(r"CREATE UNIQUE INDEX \w+ ON (\w+)", sql)
        assert unique is None or unique[1] in made, (where, sql)
