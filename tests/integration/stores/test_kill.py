"""kill -9 at any moment leaves whole transactions, and every acknowledged one."""

import asyncio
import random
from functools import partial

import pytest

from tests.integration.stores.conftest import Look, Spawn
from tests.integration.stores.seeds import append_at, open_thread, remember, remembers
from turnwright.journal.driver import Driver

KILLS = 4
STREAMS = 16


@pytest.mark.slow
async def test_a_killed_writer_loses_nothing_acknowledged_and_tears_nothing(
    driver: Driver, spawn: Spawn, look: Look
) -> None:
    dice = random.Random(7)
    for kill in range(KILLS):
        places = [await driver.write(partial(open_thread, f"k{kill}.{n}")) for n in range(STREAMS)]
        session = str(places[0].session_id)
        child = await spawn("append", session, *(str(place.thread_id) for place in places))
        for _ in range(dice.randrange(20, 300)):
            await child.line()
        child.kill()
        acknowledged = {place.thread_id: 0 for place in places}
        for line in await child.lines():
            thread_id, seq = map(int, line.split())
            acknowledged[thread_id] = seq
        await check_whole(look, places[0].session_id, acknowledged)
        place = places[0]
        [(seq,)] = await look(f"SELECT seq FROM threads WHERE id = {place.thread_id}")
        await driver.write(partial(append_at, place, seq))  # whoever comes next goes on


async def check_whole(look: Look, session_id: int, acknowledged: dict[int, int]) -> None:
    # In one statement: what the dead process sent last may be committed between two.
    entries = f"SELECT thread_id, count(*) AS n, max(seq) AS last FROM entries WHERE session_id = {session_id}"
    beside = f"threads AS t LEFT JOIN ({entries} GROUP BY 1) AS e ON e.thread_id = t.id"
    joined = f"SELECT t.id, t.seq, e.n, e.last FROM {beside}"
    stored = {row[0]: row[1:] for row in await look(joined)}
    for thread_id, seq in acknowledged.items():
        head, count, last = (number or 0 for number in stored[thread_id])
        assert count == last == head
        assert count % 4 == 0, "half a transaction"
        assert count >= seq, "an acknowledged append is gone"
    without = "SELECT count(*) FROM entries LEFT JOIN payloads AS p USING (thread_id, seq) WHERE p.salt IS NULL"
    assert await look(without) == [(0,)]
    positions = f"SELECT count(*) AS n, max(position) AS last FROM entries WHERE session_id = {session_id}"
    [(at, count, last)] = await look(
        f"SELECT c.position, e.n, e.last FROM counters AS c, ({positions}) AS e WHERE c.session_id = {session_id}"
    )
    assert at == count == last


async def test_a_process_killed_inside_its_transaction_leaves_nothing_and_blocks_nobody(
    driver: Driver, spawn: Spawn
) -> None:
    child = await spawn("block", "commit")
    assert await child.line() == "inside"
    waiting = asyncio.ensure_future(driver.write(partial(remember, "next")))
    child.kill()
    await waiting
    assert await driver.read(partial(remembers, "from the child", "next")) == [False, True]


async def test_a_process_killed_after_its_commit_has_committed(driver: Driver, spawn: Spawn) -> None:
    child = await spawn("block", "committed")
    assert await child.line() == "inside"
    child.kill()
    assert await driver.read(partial(remembers, "from the child")) == [True]
