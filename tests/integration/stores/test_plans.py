"""Reads go by whole keys or begin at a place in an index, whatever was known of the tables when they were planned."""

import re
import sqlite3
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from turnwright.journal.driver import Driver
from turnwright.journal.postgres.connection import Server
from turnwright.journal.statements import statement

ENTRIES = """
    INSERT INTO entries
    SELECT 1, g, 'e' || g, 'app/x', 1, g, 1, 0, 't-1', NULL, NULL, NULL, 1, 'h', 'h' FROM generate_series($1::int, $2) g
"""
PAYLOADS = "INSERT INTO payloads SELECT 1, g, 's', repeat('x', 300)::bytea, NULL FROM generate_series($1::int, $2) g"
READS: dict[str, tuple[object, ...]] = {
    "read_entries": (1, 1000, 2000, 1000),
    "raw_entries": (1, 1000, 1100),
    "thread_page_end": (1, 1000, 1000, 10_000_000),
    "session_page_end": (1, 1000, 1000, 10_000_000),
    "read_session": (1, 1000, 2000, 1000),
    "exported_entries": (1, 1000, 2000),
    "turn_entries": (1, "t-1", 1000, 500),
    "turn_entry": (1, "t-1", "e5", 1),
    "step_entries": (1, "t-1", 1, 500),
    "find_payload": (1, 500),
}
BAD = re.compile(r"Seq Scan|Hash|Merge|Bitmap|Materialize|Join Filter")
SIZES = (0, 5, 200, 5_000)
LOOKED_UP = 2  # of two other tables, each a row
pytestmark = pytest.mark.bare  # what was in tables before is known to the planner


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_a_page_is_never_planned_as_a_walk_over_a_table(driver: Driver, journal_url: str) -> None:
    place, _, schema = journal_url.rpartition("&schema=")
    connection = await Server(place, schema).connect()
    try:
        for table in ("entries", "payloads"):
            await connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        rows = 0
        for size in SIZES:
            for insert in (ENTRIES, PAYLOADS):
                await connection.execute(insert, rows + 1, size)
            rows = size
            for known in ("SELECT 1", "ANALYZE"):
                await connection.execute(known)
                for name, params in READS.items():
                    sql = f"EXPLAIN {statement('postgres', name).sql}"
                    plan = "\n".join(row[0] for row in await connection.fetch(sql, *params))
                    assert BAD.findall(plan) == [], f"{name} at {size} rows after {known}:\n{plan}"
                    assert "Index Cond: ((thread_id = e.thread_id) AND (seq = e.seq))" in plan or name == "find_payload"
    finally:
        await connection.close()


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("inbox_open", "interactions_open"),
        ("inbox_open_of_session", "interactions_open_by_session"),
        ("inbox_of_tenant", "interactions_by_tenant"),
        ("inbox_of_session", "interactions_by_session"),
    ],
)
async def test_a_page_of_the_inbox_begins_at_its_place_in_an_index(
    driver: Driver, journal_url: str, name: str, index: str
) -> None:
    place, _, schema = journal_url.rpartition("&schema=")
    connection = await Server(place, schema).connect()
    try:
        owner = 1 if name.endswith("session") else "t"
        state = "open" if index.startswith("interactions_open") else ""
        params = (owner, state, 1, 1, "", 50, "", "", "", "", "")
        rows = await connection.fetch(f"EXPLAIN {statement('postgres', name).sql}", *params)
        plan = "\n".join(row[0] for row in rows)
        assert f"Scan using {index} on interactions" in plan, plan
        assert "Seq Scan" not in plan, plan
        assert "Sort" not in plan, plan
    finally:
        await connection.close()


TURNS: dict[str, tuple[str, tuple[object, ...]]] = {
    "turns_in_phase": ("turns_by_phase", ("t", 2**62, "~", 50, "", "", "failed")),
    "turns_of_tenant": ("turns_by_tenant", ("t", 2**62, "~", 50, "", "")),
    "turns_of_session": ("turns_by_session", (1, 2**62, "~", 50, "", "")),
    "turns_in_session": ("turns_in_session", (1, 2**62, "~", 50, "", "", "failed")),
    "turns_of_agent": ("turns_by_agent", ("t", 2**62, "~", 50, "echo", "", "failed")),
    "turns_of_owner": ("turns_by_owner", ("t", 2**62, "~", 50, "", "+ann", "failed")),
    "turns_without_agent": ("turns_without_agent", ("t", 2**62, "~", 50, "echo", "+ann", ",failed,")),
}
ORDERED = TURNS.keys() - {"turns_of_tenant", "turns_of_session"}


@pytest.mark.parametrize("name", TURNS)
async def test_a_page_of_turns_begins_at_its_place_in_an_index(driver: Driver, journal_url: str, name: str) -> None:
    index, params = TURNS[name]
    plan = await plan_of(journal_url, name, params)
    assert f"{index} " in plan, plan
    for walk in ("Seq Scan on turns", "SCAN turns", "Hash", "Merge"):
        assert walk not in plan, plan
    if name in ORDERED:
        assert "Sort" not in plan, plan
        assert name == "turns_without_agent" or "phase = " in plan or "phase=?" in plan, plan


@pytest.mark.parametrize(
    ("name", "params"), [("session_totals", ("[1,2]",)), ("turns_named", ("t", "t-4f", "t-4fg", 1, "+ann"))]
)
async def test_what_belongs_to_each_row_is_looked_up_and_not_found_by_a_walk_over_all(
    driver: Driver, journal_url: str, name: str, params: tuple[object, ...]
) -> None:
    plan = await plan_of(journal_url, name, params)
    assert re.findall(r"Seq Scan|Hash|Merge|SCAN [thsc] ", plan) == [], plan
    if not journal_url.startswith("sqlite"):  # where a join is planned for the tables as they are at the time
        assert plan.count("->  Limit") == LOOKED_UP, plan


async def test_what_is_due_for_a_snapshot_is_looked_up_for_a_page_of_threads(driver: Driver, journal_url: str) -> None:
    plan = await plan_of(journal_url, "due_snapshots", (0, 1_000, "file:///srv/shop", 2))
    walks = r"Seq Scan|Hash|Merge|SCAN (threads|snapshots|s|sessions|x|checkpoints|c) "
    assert re.findall(walks, plan) == [], plan


async def plan_of(journal_url: str, name: str, params: tuple[object, ...]) -> str:
    """How the store would carry out a statement."""
    if journal_url.startswith("sqlite"):
        with closing(sqlite3.connect(urlsplit(journal_url).path[1:])) as file:
            sql = f"EXPLAIN QUERY PLAN {statement('sqlite', name).sql}"
            return "\n".join(f"{row[3]} " for row in file.execute(sql, params))
    place, _, schema = journal_url.rpartition("&schema=")
    connection = await Server(place, schema).connect()
    try:
        rows = await connection.fetch(f"EXPLAIN {statement('postgres', name).sql}", *params)
        return "\n".join(row[0] for row in rows)
    finally:
        await connection.close()
