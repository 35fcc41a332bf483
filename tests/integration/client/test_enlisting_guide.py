"""The guide's order and its turn are one thing: both are there, or neither."""

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import asyncpg
import pytest

from tests.integration.guides import Guide
from turnwright.client import NotFound, Session
from turnwright.journal.ids import turn_id

pytestmark = pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
Pool: TypeAlias = Any  # of asyncpg, which ships no types


@pytest.fixture
async def pool(postgres_server: str) -> AsyncIterator[Pool]:
    """The shop's own, with the table of its orders."""
    async with asyncpg.create_pool(postgres_server, min_size=1, max_size=2) as pool:
        await pool.execute("CREATE TABLE orders (id text PRIMARY KEY, customer text, turn_id text UNIQUE)")
        yield pool
        await pool.execute("DROP TABLE orders")


async def test_an_order_of_the_guide_has_its_turn_or_is_not_there(session: Session, pool: Pool) -> None:
    guide = Guide("client.md")
    await guide.run(guide.block("def place_order"))
    place_order = guide.names["place_order"]
    placed = await place_order(pool, session, "88235", "alice")
    turn = session.thread("support").turn(placed)
    assert (await turn.status()).status == "queued"
    await pool.execute("UPDATE orders SET turn_id = $1", turn_id(turn.key, "order-88236"))
    with pytest.raises(asyncpg.UniqueViolationError):
        await place_order(pool, session, "88236", "alice")
    with pytest.raises(NotFound):
        await session.thread("support").turn(turn_id(turn.key, "order-88236")).status()
    assert await pool.fetchval("SELECT count(*) FROM orders") == 1
