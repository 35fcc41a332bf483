"""Wake-ups of many threads at once: who is woken first, who is not woken over and over, and who cannot be."""

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from tests.integration.worker.conftest import Roused, Seeds, Sql
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.sweeping import Glance, Page, find_stalled
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker import wakes
from turnwright.worker.wakes import Wakes

pytestmark = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
IN_VAIN = 3
BACKOFF_IS_OVER = "UPDATE hints SET next_check_at_us = 0"


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "REPEATED_MAX", 2)


async def look(driver: Driver, *, urgent: bool = False) -> Page:
    return await driver.read(lambda: find_stalled(0, Glance(stall_us=0, limit=100, urgent=urgent), Terms()))


def threads(keys: Sequence[ThreadKey]) -> list[str]:
    return sorted(key.thread for key in keys)


async def test_of_those_woken_in_vain_a_few_are_woken_again_in_each_look_until_all_had_their_turn(
    driver: Driver, seeds: Seeds, sql: Sql, roused: Roused
) -> None:
    keys = [await seeds.thread(f"t{n}") for n in range(5)]
    giving = Wakes(driver, roused)
    await giving.give(await look(driver))
    assert sorted(roused.threads) == threads(keys)
    await sql(BACKOFF_IS_OVER)
    again: list[list[str]] = []
    for _ in range(IN_VAIN):
        roused.suspects.clear()
        await giving.give(await look(driver))
        again.append(roused.threads)
    assert [len(some) for some in again] == [2, 2, 1]
    assert sorted(thread for some in again for thread in some) == threads(keys)


async def test_whose_worker_has_just_died_is_woken_however_often_it_was(
    driver: Driver, seeds: Seeds, sql: Sql, roused: Roused
) -> None:
    keys = [await seeds.orphaned(f"t{n}") for n in range(5)]
    giving = Wakes(driver, roused)
    for _ in range(IN_VAIN):
        roused.suspects.clear()
        await giving.give(await look(driver, urgent=True))
        assert sorted(roused.threads) == threads(keys)
        await sql(BACKOFF_IS_OVER)


async def test_who_may_need_a_second_look_comes_before_those_whose_operations_are_handed_on(
    driver: Driver, seeds: Seeds, roused: Roused
) -> None:
    await seeds.orphaned("handed-on")
    await seeds.thread("woken")
    found = await look(driver, urgent=True)
    assert [suspect.key.thread for suspect in found.suspects] == ["handed-on", "woken"]
    await Wakes(driver, roused).give(found)
    assert roused.threads == ["woken", "handed-on"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("reducer_version = 99", ("warning", "thread_of_a_newer_version")),
        ("control = x'7b'", ("error", "thread_unreadable")),
    ],
)
async def test_what_a_newer_version_wrote_is_not_taken_for_damage(
    driver: Driver, seeds: Seeds, sql: Sql, roused: Roused, written: str, said: tuple[str, str]
) -> None:
    await seeds.thread("a")
    await sql(f"UPDATE threads SET {written}")
    with capture_logs() as logs:
        await Wakes(driver, roused).give(await look(driver))
    assert [(line["log_level"], line["event"]) for line in logs] == [said]
    assert roused.threads == []
