"""Whoever observes a process's commits hears of each once, and of nothing that was not committed."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from tests.integration.stores.seeds import note, remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.script import Script


class Heard:
    """The notes of each commit."""

    def __init__(self) -> None:
        self.notes: list[list[object]] = []

    def __call__(self, notes: Sequence[object], seconds: float) -> None:
        assert seconds >= 0
        self.notes.append([*notes])


def remembered(name: str) -> Script[None]:
    yield from remember(name)
    yield from note(name)


def refused(name: str) -> Script[None]:
    yield from remembered(name)
    raise InvalidInput("not that one")


async def test_each_commit_is_heard_once_with_its_notes_and_a_refused_one_is_not(driver: Driver) -> None:
    driver.observers.append(heard := Heard())
    names = [f"s{number}" for number in range(20)]
    await asyncio.gather(*(driver.write(partial(remembered, name)) for name in names))
    with pytest.raises(InvalidInput):
        await driver.write(lambda: refused("not"))
    await driver.read(lambda: note("a read"))
    assert sorted(heard.notes) == sorted([name] for name in names)


async def test_a_transaction_that_failed_at_its_commit_is_heard_when_it_is_repeated(driver: Driver) -> None:
    driver.observers.append(heard := Heard())

    def fail(point: str) -> None:
        if point == "commit":
            raise ConnectionError("the store is away")

    driver.hook = fail
    with pytest.raises(Exception, match="away"):
        await driver.write(lambda: remembered("first"))
    driver.hook = None
    await driver.write(lambda: remembered("first"))
    assert heard.notes == [["first"]]


async def test_whatever_an_observer_makes_of_a_commit_it_stands_and_is_answered_and_others_hear_of_it(
    driver: Driver,
) -> None:
    def broken(notes: Sequence[object], seconds: float) -> None:
        raise RuntimeError("cannot count")

    driver.observers += [before := Heard(), broken, after := Heard()]
    await asyncio.gather(*(driver.write(partial(remembered, f"s{number}")) for number in range(5)))
    assert sorted(before.notes) == sorted(after.notes) == [[f"s{number}"] for number in range(5)]
    assert await driver.read(lambda: remembers("s0", "s4")) == [True, True]
