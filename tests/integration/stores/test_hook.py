"""The hook is called between every two statements, so that a test can stop the world there."""

import asyncio

import pytest

from tests.integration.stores.seeds import append_at, open_thread, remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.script import Script, find_dead


def three_statements() -> Script[None]:
    place = yield from open_thread()
    yield from append_at(place, 0)
    yield from find_dead(frozenset({"p"}))


async def record(driver: Driver) -> list[str]:
    points: list[str] = []
    driver.hook = points.append
    await driver.write(three_statements)
    driver.hook = None
    return points


async def test_the_hook_is_called_before_each_statement_and_around_the_commit(driver: Driver) -> None:
    points = await record(driver)
    assert points[0] == "begin"
    assert points[-2:] == ["commit", "committed"]
    assert points[1:4] == ["insert_session", "insert_counter", "insert_thread"]
    appends = [point for point in points if point.startswith("append")]
    assert appends == (
        ["append"]
        if driver.dialect == "postgres"
        else ["append_head", "append_counter", "append_entry", "append_payload"]
    )


async def test_an_error_at_any_point_before_the_commit_leaves_nothing(driver: Driver) -> None:
    def scratch() -> Script[None]:
        yield from three_statements()
        raise RuntimeError("rehearsal")

    points: list[str] = []
    driver.hook = points.append
    with pytest.raises(RuntimeError, match="rehearsal"):
        await driver.write(scratch)
    inner = [point for point in points if point not in {"begin", "commit", "committed"}]
    for failing in ["begin", *inner, "commit"]:

        def hook(point: str, failing: str = failing) -> None:
            if point == failing:
                raise OSError(failing)

        driver.hook = hook
        with pytest.raises(OSError, match=failing):
            await driver.write(three_statements)
        driver.hook = None
        assert await driver.read(lambda: remembers('["t",null,"main"]')) == [False]
    await driver.write(three_statements)


async def test_an_error_after_the_commit_is_a_lost_acknowledgement(driver: Driver) -> None:
    def hook(point: str) -> None:
        if point == "committed":
            raise ConnectionError("lost")

    driver.hook = hook
    with pytest.raises(ConnectionError):
        await driver.write(lambda: remember("kept"))
    driver.hook = None
    assert await driver.read(lambda: remembers("kept")) == [True]


async def test_a_hook_may_wait_for_something_on_the_loop(driver: Driver) -> None:
    inside, gate = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "commit":
            inside.set()
            await gate.wait()

    driver.hook = hook
    writing = asyncio.ensure_future(driver.write(lambda: remember("a")))
    await inside.wait()
    assert not writing.done()
    gate.set()
    await writing
