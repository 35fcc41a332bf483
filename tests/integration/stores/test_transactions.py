"""A script is one transaction, alone or among others in the same group."""

import asyncio

import pytest

from tests.integration.stores.seeds import remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput, StoreError, StoreUnavailable
from turnwright.journal.script import Script, batch, first, rows


class Refused(Exception):
    pass


def refusing(name: str) -> Script[None]:
    yield from remember(name)
    raise Refused(name)


async def test_what_a_script_wrote_is_read_after_its_commit(driver: Driver) -> None:
    await driver.write(lambda: remember("a"))
    assert await driver.read(lambda: remembers("a", "b")) == [True, False]


async def test_a_failing_script_undoes_itself_and_leaves_its_neighbours(driver: Driver) -> None:
    scripts = [
        driver.write(lambda n=n: refusing(f"bad {n}") if n % 3 == 0 else remember(f"good {n}"))  # type: ignore[misc]
        for n in range(30)
    ]
    outcomes = await asyncio.gather(*scripts, return_exceptions=True)
    assert [str(error) for error in outcomes if error] == [f"bad {n}" for n in range(0, 30, 3)]
    assert all(isinstance(error, Refused) for error in outcomes if error)
    good = [f"good {n}" for n in range(30) if n % 3]
    bad = [f"bad {n}" for n in range(0, 30, 3)]
    assert all(await driver.read(lambda: remembers(*good)))
    assert not any(await driver.read(lambda: remembers(*bad)))


async def test_a_statement_that_fails_ends_the_script_and_names_itself(driver: Driver) -> None:
    def twice() -> Script[None]:
        yield from rows("insert_counter", 1)
        try:
            yield from rows("insert_counter", 1)
        except Exception as error:
            raise AssertionError("a script must not see errors of the store") from error

    with pytest.raises(StoreError, match="insert_counter"):
        await driver.write(twice)
    await driver.write(lambda: rows("insert_counter", 1))


async def test_an_unknown_statement_names_the_file_to_add(driver: Driver) -> None:
    with pytest.raises(StoreError, match=rf"journal/sql/{driver.dialect}/no_such\.sql"):
        await driver.write(lambda: rows("no_such"))


async def test_many_scripts_at_once_all_commit_and_each_gets_its_own_answer(driver: Driver) -> None:
    def numbered(n: int) -> Script[int]:
        yield from remember(f"n{n}")
        return n

    answers = await asyncio.gather(*(driver.write(lambda n=n: numbered(n)) for n in range(200)))  # type: ignore[misc]
    assert answers == list(range(200))
    assert all(await driver.read(lambda: remembers(*(f"n{n}" for n in range(200)))))


async def test_nobody_hears_of_a_commit_before_it_happened(driver: Driver, other: Driver) -> None:
    seen_at_commit: list[bool] = []

    async def hook(point: str) -> None:
        if point == "commit":
            seen_at_commit.extend(await other.read(lambda: remembers("late")))
            assert not writing.done()

    driver.hook = hook
    writing = asyncio.ensure_future(driver.write(lambda: remember("late")))
    await writing
    assert seen_at_commit == [False]
    assert await other.read(lambda: remembers("late")) == [True]


async def test_a_read_sees_one_snapshot_while_others_commit(driver: Driver, other: Driver) -> None:
    def reading() -> Script[list[bool]]:
        before = yield from remembers("during")
        after = yield from remembers("during")
        return before + after

    points: list[str] = []

    async def hook(point: str) -> None:
        points.append(point)
        if points.count("find_session") == 2 and point == "find_session":
            await other.write(lambda: remember("during"))

    driver.hook = hook
    assert await driver.read(reading) == [False, False]
    driver.hook = None
    assert await driver.read(reading) == [True, True]


async def test_a_read_cannot_write(driver: Driver) -> None:
    with pytest.raises(StoreError):
        await driver.read(lambda: remember("no"))
    assert await driver.read(lambda: remembers("no")) == [False]


async def test_a_batch_writes_every_row_and_no_rows_are_no_statement(driver: Driver) -> None:
    def many() -> Script[None]:
        yield from batch("insert_counter", tuple((n,) for n in range(1, 51)))
        yield from batch("insert_counter", ())

    await driver.write(many)
    with pytest.raises(StoreError):
        await driver.write(lambda: rows("insert_counter", 50))


async def test_a_cancelled_write_leaves_the_driver_and_its_neighbours_whole(driver: Driver) -> None:
    entered = asyncio.Event()
    leave = asyncio.Event()

    async def hook(point: str) -> None:
        if point == "insert_session":
            entered.set()
            await leave.wait()

    driver.hook = hook
    doomed = asyncio.ensure_future(driver.write(lambda: remember("doomed")))
    await entered.wait()
    doomed.cancel()
    leave.set()
    with pytest.raises(asyncio.CancelledError):
        await doomed
    await driver.write(lambda: remember("next"))
    assert await driver.read(lambda: remembers("next")) == [True]


async def test_a_read_that_is_cancelled_at_any_moment_leaves_no_open_transaction(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    for moments in range(60):
        reading = asyncio.create_task(driver.read(lambda: remembers("a")))
        for _ in range(moments):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        await driver.read(lambda: remembers("a"))
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_the_store_tells_the_time(driver: Driver) -> None:
    one = await driver.write(lambda: first("clock"))
    two = await driver.read(lambda: first("clock"))
    assert one is not None
    assert two is not None
    assert 1_700_000_000_000_000 < one[0] <= two[0]


async def test_a_stopped_driver_refuses_with_an_error_and_stops_again_without_harm(driver: Driver) -> None:
    await driver.stop()
    await driver.stop()
    with pytest.raises(StoreUnavailable):
        await driver.write(lambda: remember("no"))
    with pytest.raises(StoreUnavailable):
        await driver.read(lambda: remembers("no"))


async def test_stop_finishes_what_was_accepted(driver: Driver, other: Driver) -> None:
    writes = [asyncio.ensure_future(driver.write(lambda n=n: remember(f"n{n}"))) for n in range(20)]  # type: ignore[misc]
    await asyncio.sleep(0)
    await driver.stop()
    done = [not isinstance(end, BaseException) for end in await asyncio.gather(*writes, return_exceptions=True)]
    assert done == await other.read(lambda: remembers(*(f"n{n}" for n in range(20))))
    assert any(done)


@pytest.mark.parametrize("value", ["\ud800", 2**63])
async def test_a_value_that_no_store_holds_is_refused_as_the_caller_s_and_not_repeated(
    driver: Driver, value: str | int
) -> None:
    name = "find_session" if isinstance(value, str) else "insert_counter"
    with pytest.raises(InvalidInput) as refused:
        await driver.write(lambda: rows(name, value))
    assert repr(value) not in str(refused.value)
    await driver.write(lambda: remember("afterwards"))
