"""A list that many ask for is read for all of them, and never so early that something is missing in it."""

from __future__ import annotations

import asyncio

import pytest

from turnwright.client.gateway import readings
from turnwright.client.gateway.readings import Readings

MANY = 100


class Shelf:
    """Something that is read, one at a time, and held until it is let go."""

    def __init__(self) -> None:
        self.count = self.at_once = self.at_once_most = 0
        self.go = asyncio.Event()
        self.begun = asyncio.Event()

    async def read(self) -> int:
        self.count += 1
        self.at_once += 1
        self.at_once_most = max(self.at_once, self.at_once_most)
        number = self.count
        self.begun.set()
        await self.go.wait()
        self.at_once -= 1
        return number


async def test_a_hundred_who_ask_together_cost_one_reading_and_other_lists_are_read_beside_it() -> None:
    together, shelf, other = Readings(), Shelf(), Shelf()
    shelf.go.set()
    other.go.set()
    asked = [together.take("turns", shelf.read) for _ in range(MANY)]
    assert await asyncio.gather(*asked, together.take("inbox", other.read)) == [1] * MANY + [1]
    assert (shelf.count, other.count) == (1, 1)


async def test_who_asks_while_it_is_read_is_given_the_next_reading_and_all_of_them_the_same() -> None:
    together, shelf = Readings(), Shelf()
    first = asyncio.create_task(together.take("turns", shelf.read))
    await shelf.begun.wait()
    late = [asyncio.create_task(together.take("turns", shelf.read)) for _ in range(MANY)]
    await asyncio.sleep(0)
    shelf.go.set()
    assert await first == 1
    assert set(await asyncio.gather(*late)) == {2}
    assert (shelf.count, shelf.at_once_most) == (2, 1)


async def test_a_list_that_is_wanted_often_is_read_a_moment_later_and_one_that_is_not_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readings, "SPACING_S", 3_600.0)
    together, shelf = Readings(), Shelf()
    shelf.go.set()
    for number in range(readings.FREE_PER_S):
        assert await together.take("turns", shelf.read) == number + 1
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(together.take("turns", shelf.read), 0.05)
    assert await together.take("inbox", shelf.read) == readings.FREE_PER_S + 1


async def test_who_goes_away_takes_the_reading_from_nobody_and_who_fails_fails_for_all_who_wait() -> None:
    together, shelf = Readings(), Shelf()
    gone = asyncio.create_task(together.take("turns", shelf.read))
    await shelf.begun.wait()
    gone.cancel()
    shelf.go.set()
    assert await together.take("turns", shelf.read) == 2

    async def fail() -> int:
        raise OSError("away")

    failed = await asyncio.gather(*(together.take("other", fail) for _ in range(3)), return_exceptions=True)
    assert [str(one) for one in failed] == ["away"] * 3
    assert await together.take("other", shelf.read) == 3


async def test_lists_that_nobody_asks_for_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "LISTS_REMEMBERED_MAX", 3)
    together, shelf = Readings(), Shelf()
    shelf.go.set()
    for number in range(10):
        await together.take(number, shelf.read)
    assert len(together._lists) == 3
