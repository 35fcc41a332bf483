"""Who may import whom, as a table over roles; a role that is absent from a row is refused.

`journal.pure` is what workflow code may load: it must stay free of I/O, so it never reaches the stores.
`workflows.shared` is what others need of them: ids, payload types and how they are sealed, search attributes, how one
is woken, and which Temporal it is.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.unit.source_tree import BESIDE, PACKAGES, ROOT, files_in, module_name, parse

# Beginnings of module names, first match wins.
ROLES = (
    ("turnwright.journal.sqlite", "journal.stores"),
    ("turnwright.journal.postgres", "journal.stores"),
    ("turnwright.journal.store", "journal.stores"),
    ("turnwright.journal.drivers", "journal.stores"),
    ("turnwright.journal.snapshots", "journal.snapshots"),
    ("turnwright.journal.watchers", "journal.stores"),
    ("turnwright.journal", "journal.pure"),
    ("turnwright.workflows.attributes", "workflows.shared"),
    ("turnwright.workflows.engine", "workflows.shared"),
    ("turnwright.workflows.ids", "workflows.shared"),
    ("turnwright.workflows.payloads", "workflows.shared"),
    ("turnwright.workflows.schedule", "workflows.shared"),
    ("turnwright.workflows.sealing", "workflows.shared"),
    ("turnwright.workflows.waking", "workflows.shared"),
    ("turnwright.workflows", "workflows"),
    ("turnwright.activities", "activities"),
    ("turnwright.client", "client"),
    ("turnwright.worker", "worker"),
)
JOURNAL = {"journal.pure", "journal.stores"}
MAY_IMPORT = {
    "journal.pure": {"journal.pure"},
    "journal.stores": JOURNAL,
    "journal.snapshots": {*JOURNAL, "journal.snapshots"},
    "workflows.shared": {"journal.pure", "workflows.shared"},
    "workflows": {"journal.pure", "workflows.shared", "workflows"},
    "activities": {*JOURNAL, "workflows.shared", "activities"},
    "client": {*JOURNAL, "journal.snapshots", "workflows.shared", "client"},
    "worker": {role for _, role in ROLES},
}
# Other people's packages that would bring I/O or an engine where it does not belong.
REFUSED_OUTSIDE = {
    "journal.pure": {"asyncio", "asyncpg", "pydantic_ai", "redis", "socket", "sqlalchemy", "sqlite3", "temporalio"},
    "journal.stores": {"pydantic_ai", "redis", "sqlalchemy", "temporalio"},
    "journal.snapshots": {"asyncpg", "pydantic_ai", "sqlite3", "temporalio"},
    "workflows.shared": {"asyncpg", "pydantic_ai", "sqlite3"},
    "workflows": {"asyncpg", "pydantic_ai", "sqlite3"},
}


def role_of(module: str) -> str | None:
    return next((role for start, role in ROLES if module.startswith(start)), None)


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                inner = source.partition(".")[0] == "turnwright" and is_module(whole)
                yield node.lineno, whole if inner else source


def refusal(importer: str, imported: str) -> str | None:
    role = role_of(importer)
    assert role is not None, f"{importer} lies in no known folder"
    match imported.partition(".")[0]:
        case "":
            return "relative"
        case "turnwright":
            target = role_of(imported)
            return None if target in MAY_IMPORT[role] else f"{role} must not import {target}"
        case top if top in BESIDE or top in PACKAGES:
            return f"{top} is not importable from the code"
        case top if top in REFUSED_OUTSIDE.get(role, ()):
            return f"{role} must not import {top}"
    return None


def refusals(importer: str, tree: ast.Module) -> list[str]:
    found = ((line, imported, refusal(importer, imported)) for line, imported in imported_modules(tree))
    return [f"{importer}:{line} imports {imported}: {why}" for line, imported, why in found if why]


def test_every_import_of_the_code_is_allowed_by_the_table() -> None:
    found = [text for path in files_in(*PACKAGES) for text in refusals(module_name(path), parse(path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("turnwright.journal.entries", "import turnwright.workflows.ids"),
        ("turnwright.journal.entries", "from turnwright.journal.store import Store"),
        ("turnwright.journal.entries", "import sqlite3"),
        ("turnwright.journal.store", "from turnwright.journal.snapshots.port import SnapshotStore"),
        ("turnwright.activities.model", "from turnwright.journal.snapshots.port import SnapshotStore"),
        ("turnwright.journal.sqlite.writer", "import temporalio.client"),
        ("turnwright.workflows.turn", "from turnwright.journal.sqlite.writer import Writer"),
        ("turnwright.workflows.turn", "from turnwright import activities"),
        ("turnwright.workflows.ids", "import turnwright.workflows.turn"),
        ("turnwright.activities.model", "from turnwright.client import Client"),
        ("turnwright.activities.model", "import turnwright.workflows.turn"),
        ("turnwright.client.http", "if True:\n    def later():\n        import turnwright.worker.main"),
        ("turnwright.worker.main", "from tests.unit import source_tree"),
        ("turnwright.worker.main", "from client import Client"),
        ("turnwright.worker.main", "from . import sweeper"),
        ("turnwright.worker.main", "import turnwright"),
    ],
)
def test_an_import_outside_the_table_is_seen(importer: str, statement: str) -> None:
    assert refusals(importer, ast.parse(statement))


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("turnwright.journal.entries", "import hashlib\nfrom turnwright.journal import messages"),
        ("turnwright.journal.postgres.append", "import asyncpg\nfrom turnwright.journal.store import Store"),
        ("turnwright.workflows.turn", "import temporalio.workflow\nfrom turnwright.journal.plan import plan"),
        ("turnwright.activities.model", "from turnwright.workflows.payloads import ModelStep"),
        ("turnwright.client.http", "from turnwright.journal.store import Store"),
        ("turnwright.worker.main", "import turnwright.client\nimport turnwright.workflows.turn"),
    ],
)
def test_an_import_inside_the_table_passes(importer: str, statement: str) -> None:
    assert refusals(importer, ast.parse(statement)) == []
