"""The one contract of background actors, under stress."""

import asyncio
import random

import pytest

from turnwright.worker import actor
from turnwright.worker.actor import Looper, stop_all


class Counting(Looper):
    def __init__(self, fail_at: frozenset[int] = frozenset()) -> None:
        super().__init__("counting", 0)
        self.rounds = 0
        self.running = 0
        self.fail_at = fail_at

    async def begin(self) -> None:
        self.running += 1

    async def end(self) -> None:
        self.running -= 1

    async def round(self) -> None:
        self.rounds += 1
        await asyncio.sleep(0)
        if self.rounds in self.fail_at:
            raise ValueError(f"round {self.rounds}")


async def until_rounds(counting: Counting, rounds: int) -> None:
    async with asyncio.timeout(10):
        while counting.rounds < rounds:
            await asyncio.sleep(0)


async def test_starting_and_stopping_in_any_order_leaves_one_or_none_running() -> None:
    dice = random.Random(1)
    counting = Counting()
    for _ in range(200):
        await dice.choice([counting.start, counting.stop])()
        for _ in range(dice.randrange(3)):
            await asyncio.sleep(0)
        assert counting.running in (0, 1)
    await counting.stop()
    rounds = counting.rounds
    await asyncio.sleep(0)
    assert (counting.running, counting.rounds) == (0, rounds)


async def test_a_failed_round_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor, "FAILED_ROUND_WAIT_S_MAX", 0)
    counting = Counting(fail_at=frozenset({1, 2, 3, 7}))
    await counting.start()
    await until_rounds(counting, 10)
    await counting.stop()


async def test_actors_are_stopped_in_the_opposite_order_of_their_start() -> None:
    order: list[int] = []

    class Noting(Counting):
        async def end(self) -> None:
            order.append(id(self))

    actors = [Noting(), Noting()]
    for one in actors:
        await one.start()
    await stop_all(actors)
    assert order == [id(actors[1]), id(actors[0])]


async def test_one_that_cannot_begin_has_not_started() -> None:
    class Failing(Counting):
        async def begin(self) -> None:
            raise ConnectionError("not yet")

    failing = Failing()
    with pytest.raises(ConnectionError):
        await failing.start()
    await failing.stop()
    assert failing.rounds == 0
