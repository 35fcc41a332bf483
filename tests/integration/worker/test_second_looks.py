"""Second looks at what a dead worker may hold: nobody waits for them, and they are taken a few at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from tests.integration.worker.conftest import Roused, Seeds, until
from turnwright.journal.driver import Driver
from turnwright.journal.transact.sweeping import Suspect
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker import wakes
from turnwright.worker.rousing import EngineAway, Rouser, SecondLook
from turnwright.worker.sweeper import Sweeper, SweepSettings

pytestmark = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
FAST = SweepSettings(interval_s=0.05, stall_s=0.1)
NEVER_S = 3_600.0


class Twice(Roused):
    """Wants each thread looked at twice; the looks go on when as many as may are under way at once."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: list[str] = []
        self.together = asyncio.Event()

    async def rouse(self, suspect: Suspect) -> SecondLook | None:  # type: ignore[override]
        await super().rouse(suspect)

        async def look() -> None:
            self.looked.append(suspect.key.thread)
            if len(self.looked) >= wakes.AT_ONCE_MAX:
                self.together.set()
            await self.together.wait()
            if suspect.key.thread == "t3":
                raise ValueError("a workflow nobody knows")
            if suspect.key.thread == "away":
                raise EngineAway("nobody answers")

        return look if suspect.wakes == 1 else None


@asynccontextmanager
async def sweeping(driver: Driver, rouser: Rouser) -> AsyncIterator[None]:
    sweeper = Sweeper(driver, rouser, Terms, FAST)
    await sweeper.start()
    try:
        yield
    finally:
        await sweeper.stop()


async def test_the_sweep_goes_on_until_second_looks_are_due(
    driver: Driver, seeds: Seeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakes, "SECOND_LOOK_S", NEVER_S)
    rouser = Twice()
    await seeds.thread("a")
    async with sweeping(driver, rouser):
        await until(lambda: rouser.threads[:1] == ["a"])
        await seeds.thread("b")
        await until(lambda: "b" in rouser.threads)
    assert rouser.looked == []


async def test_second_looks_are_taken_a_few_at_once_and_one_s_trouble_is_told_with_its_thread(
    driver: Driver, seeds: Seeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakes, "SECOND_LOOK_S", 0.0)
    rouser = Twice()
    keys = [await seeds.thread(f"t{n}") for n in range(wakes.AT_ONCE_MAX + 2)]
    with capture_logs() as logs:
        async with sweeping(driver, rouser):
            await until(lambda: len(rouser.looked) == len(keys))
    [failed] = [line for line in logs if line["event"] == "rouse_failed"]
    assert failed["thread"] == keys[3].canonical


async def test_when_temporal_is_away_no_second_look_is_left_for_later(
    driver: Driver, seeds: Seeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakes, "SECOND_LOOK_S", 0.0)
    monkeypatch.setattr(wakes, "AT_ONCE_MAX", 1)
    rouser = Twice()
    for name in ("away", "behind"):
        await seeds.thread(name)
    async with sweeping(driver, rouser):
        await until(lambda: set(rouser.threads) == {"away", "behind"} and bool(rouser.looked))
        await seeds.thread("later")
        await until(lambda: "later" in rouser.looked)
    assert rouser.looked == ["away", "later"]
