"""A store's clock that is set back delays nothing and turns no time around."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, Played, Sql
from turnwright.journal.actions import Delay, ModelOp, Work
from turnwright.journal.commands import FailModel, Look
from turnwright.journal.durations import SECOND_US
from turnwright.journal.stalls import BUSY_CHECK_US
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.sweeping import Glance, Page, Suspect, find_stalled
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.sweeper import Sweeper, SweepSettings

HOUR_US = 3_600 * SECOND_US
ON_SQLITE = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)  # its clock is ours
SET_BACK = "UPDATE threads SET at_us = at_us + $1"


async def look(played: Played, stall_s: int = 60, *, urgent: bool = False) -> Page:
    glance = Glance(stall_us=stall_s * SECOND_US, limit=10, urgent=urgent)
    return await played.journal.driver.read(partial(find_stalled, 0, glance, Terms()))


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how many microseconds the clock of a SQLite journal is ahead."""
    ahead, real = [HOUR_US], time.time_ns
    monkeypatch.setattr("turnwright.journal.sqlite.connection.time.time_ns", lambda: real() + ahead[0] * 1_000)
    return ahead


@ON_SQLITE
async def test_entries_after_the_clock_was_set_back_do_not_go_back_in_time(ahead: list[int], played: Played) -> None:
    await played.submit("one")
    ahead[0] = 0
    await played.submit("two")
    first, second = await played.journal.entries(KEY)
    assert second.at_us >= first.at_us
    assert [finding async for proof in verify(played.journal) for finding in proof.findings] == []


@pytest.mark.parametrize("urgent", [False, True])
async def test_a_thread_whose_last_entry_is_of_a_time_to_come_is_not_left_until_then(
    played: Played, sql: Sql, urgent: bool
) -> None:
    await played.submit("one")
    assert (await look(played)).suspects == ()
    await sql(SET_BACK, HOUR_US)
    assert [suspect.key for suspect in (await look(played, urgent=urgent)).suspects] == [KEY]


async def test_a_busy_thread_of_a_time_to_come_is_looked_at_as_soon_as_any_other(played: Played, sql: Sql) -> None:
    turn = await played.submit("one")
    await played.ask(turn, await played.claim(turn))
    await sql(SET_BACK, HOUR_US)
    page = await look(played)
    [(_, _, until_us)] = page.carried
    assert until_us <= page.now_us + BUSY_CHECK_US


@ON_SQLITE
async def test_a_provider_s_patience_does_not_last_until_a_clock_that_was_set_back_has_caught_up(
    ahead: list[int], played: Played
) -> None:
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    busy = FailModel(turn_id=turn, epoch=epoch, step=1, ordinal=1, failure="transient", message="busy")
    assert isinstance((await played.run(KEY, busy)).action, Delay)
    look = Look(turn_id=turn, epoch=epoch)
    assert isinstance((await played.run(KEY, look)).action, Delay)
    ahead[0] = 0
    assert (await played.run(KEY, look)).action == Work((ModelOp(1, 2),))


class Roused(list[Suspect]):
    """A rouser that writes down whom it was told to rouse."""

    async def rouse(self, suspect: Suspect) -> None:
        self.append(suspect)


@pytest.fixture
async def sweeper(played: Played) -> AsyncIterator[tuple[Sweeper, Roused]]:
    roused = Roused()
    sweeper = Sweeper(played.journal.driver, roused, Terms, SweepSettings(interval_s=0.05, stall_s=0.1))
    await sweeper.start()
    yield sweeper, roused
    await sweeper.stop()


@ON_SQLITE
async def test_a_sweeper_that_sees_the_clock_set_back_looks_at_everything_again(
    ahead: list[int], played: Played, sweeper: tuple[Sweeper, Roused]
) -> None:
    await played.submit("one")
    async with asyncio.timeout(30):
        while not sweeper[1]:
            await asyncio.sleep(0.01)
        ahead[0], seen = 0, len(sweeper[1])
        while len(sweeper[1]) == seen:
            await asyncio.sleep(0.01)
