"""What each command asks of the inbox is found by an index, however full the inbox is."""

import pytest

from turnwright.journal.driver import Driver
from turnwright.journal.postgres.connection import Server
from turnwright.journal.statements import statement

FILL = """
    INSERT INTO inbox (thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us)
    SELECT g::text, sha256(g::text::bytea), 's', 't-' || g, 'r', 'b', 0 FROM generate_series(1, $1::int) g
"""


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_the_inbox_is_never_walked_through(driver: Driver, journal_url: str) -> None:
    place, _, schema = journal_url.rpartition("&schema=")
    connection = await Server(place, schema).connect()
    reads: dict[str, tuple[str, tuple[object, ...]]] = {
        "first_enlisted": ("inbox_by_thread on inbox", ("7",)),
        "find_enlisted": ("inbox_by_turn on inbox", ("t-7",)),
        "enlisted_named": ("inbox_by_turn on inbox", ("t-7", "t-7g", '["t",', 5)),
        "erase_enlisted": ("inbox_by_session on inbox", (1, 100)),
        "enlisted_page": ("inbox_pkey on inbox", (0, 100)),
        "take_enlisted": ("inbox_pkey on inbox", (1, "7")),
    }
    try:
        for size in (0, 5_000):
            await connection.execute(FILL, size)
            await connection.execute("ANALYZE inbox")
            for name, (index, params) in reads.items():
                rows = await connection.fetch(f"EXPLAIN {statement('postgres', name).sql}", *params)
                plan = "\n".join(row[0] for row in rows)
                assert f"using {index}" in plan, f"{name} at {size} rows:\n{plan}"
                assert "Seq Scan" not in plan, f"{name} at {size} rows:\n{plan}"
    finally:
        await connection.close()
