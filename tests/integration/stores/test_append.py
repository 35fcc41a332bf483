"""Sequence numbers and positions are contiguous, whoever appends and whatever fails."""

import asyncio
import random
from functools import partial

import pytest

from tests.integration.stores.conftest import Look
from tests.integration.stores.seeds import Place, append_at, head, open_thread
from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.script import Append, Script, append, first, rows


async def test_an_append_moves_the_head_and_gives_positions(driver: Driver, look: Look) -> None:
    place = await driver.write(open_thread)
    assert await driver.write(lambda: append_at(place, 0)) == 1
    assert await driver.write(lambda: append_at(place, 4, count=2)) == 5
    found = await look("SELECT seq, position, entry_id FROM entries ORDER BY seq")
    assert found == [(n, n, f"e{n}") for n in range(1, 7)]
    assert await look("SELECT seq, tail_bytes, total_bytes FROM threads") == [(6, 600, 600)]
    joined = "SELECT count(*) FROM entries JOIN payloads USING (thread_id, seq) WHERE length(body) = 100"
    assert await look(joined) == [(6,)]


async def test_an_append_at_another_head_writes_nothing_and_uses_no_position(driver: Driver, look: Look) -> None:
    place = await driver.write(open_thread)
    await driver.write(lambda: append_at(place, 0))
    assert await driver.write(lambda: append_at(place, 0)) is None
    assert await driver.write(lambda: append_at(place, 9)) is None
    assert await look("SELECT count(*), max(position) FROM entries") == [(4, 4)]
    assert await look("SELECT position FROM counters") == [(4,)]


async def test_of_writers_with_the_same_expectation_one_wins(driver: Driver, other: Driver, look: Look) -> None:
    place = await driver.write(open_thread)
    drivers = [driver, other] * 8
    answers = await asyncio.gather(*(one.write(lambda: append_at(place, 0)) for one in drivers))
    assert sorted(answers, key=str) == [1, *[None] * 15]
    assert await look("SELECT count(*) FROM entries") == [(4,)]


async def test_threads_of_a_session_share_its_positions_without_gaps(driver: Driver, other: Driver, look: Look) -> None:
    place = await driver.write(open_thread)

    def thread(n: int) -> Script[Place]:
        made = yield from first("insert_thread", f"k{n}", place.session_id, "t", "a", f"n{n}", b"", 0, b"{}", 1)
        assert made is not None
        return Place(place.session_id, made[0])

    places = [await driver.write(lambda n=n: thread(n)) for n in range(6)]  # type: ignore[misc]

    def script(own: Place, seq: int, *, failing: bool) -> Script[None]:
        yield from append_at(own, seq)
        if failing:
            raise RuntimeError("refused")

    async def append_ten(one: Driver, own: Place, dice: random.Random) -> None:
        for seq in range(0, 40, 4):
            if dice.random() < 0.3:
                with pytest.raises(RuntimeError):
                    await one.write(partial(script, own, seq, failing=True))
            await one.write(partial(script, own, seq, failing=False))

    await asyncio.gather(*(append_ten((driver, other)[n % 2], own, random.Random(n)) for n, own in enumerate(places)))
    positions = [position for (position,) in await look("SELECT position FROM entries ORDER BY position")]
    assert positions == list(range(1, 241))
    seqs = await look("SELECT thread_id, count(*), min(seq), max(seq) FROM entries GROUP BY thread_id")
    assert {row[1:] for row in seqs} == {(40, 1, 40)}


async def test_an_append_without_entries_changes_the_head_only(driver: Driver, look: Look) -> None:
    place = await driver.write(open_thread)
    command = Append(place.session_id, place.thread_id, 0, head(0)._replace(control=b"new"), ())
    assert await driver.write(lambda: append(command)) == 1
    assert [bytes(control) for (control,) in await look("SELECT control FROM threads")] == [b"new"]
    assert await look("SELECT position FROM counters") == [(0,)]


async def test_a_session_without_a_counter_is_reported_and_nothing_written(driver: Driver, look: Look) -> None:
    place = await driver.write(open_thread)
    with pytest.raises(StoreCorrupt, match="counter"):
        await driver.write(lambda: append_at(Place(place.session_id + 1, place.thread_id), 0))
    assert await look("SELECT seq FROM threads") == [(0,)]


async def test_keys_of_the_longest_ids_are_stored_and_found(driver: Driver) -> None:
    dice = random.Random(1)
    key = "".join(chr(dice.randrange(0x10000, 0x1FFFF)) for _ in range(1000))
    await driver.write(lambda: rows("insert_session", key, "t", None, "s", b"{}", 1, 0))
    assert await driver.write(lambda: rows("insert_session", key, "t", None, "s", b"{}", 1, 0)) == []
    assert await driver.read(lambda: first("find_session", key)) is not None
    assert await driver.read(lambda: first("find_session", key[:-1])) is None
