"""Every statement that touches a column with content is known to what seals it, and at the place where it has it."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from tests.journals import place_of
from turnwright.journal.driver import Driver
from turnwright.journal.sealing.columns import PAYLOADS, READS, WRITES, Read
from turnwright.journal.statements import Statement, statements

CONTENT = re.compile(r"\b(body|control|receipt|content_digest|secret|url|words)\b")
BY_NAME = {
    "append",
    "append_with_texts",
    "append_head",
    "append_payload",
    "insert_session",
    "insert_text",
    "search_texts",
}
# What they say of content is its size, that it is gone, or nothing.
OTHERWISE = {
    "bury_session", "descriptions", "enlist", "erase_payload", "prepare_search", "session_page_end", "thread_page_end",
}  # fmt: skip


def touching(driver: Driver) -> Iterator[Statement]:
    for one in statements(driver.dialect).values():
        if CONTENT.search(re.sub(r"'[^']*'", "", one.sql)):
            yield one


def places(read: Read) -> set[int]:
    body = () if read.body is None else (read.body.body, read.body.blob_body)
    return {*read.labels, *(place for place in body if place is not None)}


def test_none_is_forgotten_and_none_is_made_up(driver: Driver) -> None:
    known = {*READS, *WRITES, *PAYLOADS, *BY_NAME, *OTHERWISE}
    assert {one.name for one in touching(driver)} - known == set()
    other = {one for dialect in ("sqlite", "postgres") for one in statements(dialect)}
    assert known - other == set()


async def test_each_column_with_content_that_is_read_is_opened(driver: Driver, journal_url: str) -> None:
    wrong = {}
    for one in touching(driver):
        if one.name in OTHERWISE or one.name in BY_NAME or not one.sql.lstrip().startswith(("SELECT", "WITH")):
            continue
        names = await columns(journal_url, one.sql)
        content = {n for n, name in enumerate(names) if CONTENT.search(name)}
        perhaps = {n for n, name in enumerate(names) if name == "case"}
        if not content <= places(READS[one.name]) <= content | perhaps:
            wrong[one.name] = (names, sorted(content))
    assert wrong == {}


async def columns(journal_url: str, sql: str) -> list[str]:
    """The names of what a statement gives, as the store itself says them."""
    if journal_url.startswith("sqlite"):
        connection = sqlite3.connect(Path(urlsplit(journal_url).path[1:]))
        try:
            connection.create_function("now_us", 0, lambda: 0)
            given = max([0, *(int(n) for n in re.findall(r"\?(\d+)", sql))])
            described = connection.execute(sql, [0] * given).description
        finally:
            connection.close()
        return [name for name, *_ in described]
    server, schema = place_of(journal_url)
    connection = await asyncpg.connect(server, server_settings={"search_path": schema})
    try:
        prepared = await connection.prepare(sql)
        return [attribute.name for attribute in prepared.get_attributes()]
    finally:
        await connection.close()
