"""The sweeper at work: workers that die or freeze, two leaders, and an engine that goes away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import pytest

from tests.forked import Speaking
from tests.integration.worker.conftest import Roused, Seeds, Spawn, Sql, until
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import turn_id
from turnwright.journal.transact.sweeping import Suspect, prune_hints
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.rousing import Rouser
from turnwright.worker.sweeper import LEAD, Sweeper, SweepSettings
from turnwright.worker.wakes import AT_ONCE_MAX

FAST = SweepSettings(interval_s=0.05, stall_s=0.1)
SLOW = SweepSettings(interval_s=0.05, stall_s=600)  # only what is due by itself is found
LONG_LEASE_S = "600"

Start = Callable[..., Awaitable[Sweeper]]


@pytest.fixture
async def start(journal_url: str, driver: Driver) -> AsyncIterator[Start]:
    """Start a sweeper on a driver of its own."""
    async with AsyncExitStack() as stack:

        async def start(rouser: Rouser, settings: SweepSettings = FAST) -> Sweeper:
            own = open_driver(journal_url)
            await own.start()
            stack.push_async_callback(own.stop)
            sweeper = Sweeper(own, rouser, Terms, settings)
            await sweeper.start()
            stack.push_async_callback(sweeper.stop)
            return sweeper

        yield start


async def test_a_turn_whose_wake_up_was_lost_is_roused(seeds: Seeds, roused: Roused, start: Start) -> None:
    await seeds.thread("a")
    await start(roused)
    await until(lambda: roused.threads[:1] == ["a"])


async def test_what_was_there_before_the_search_is_indexed_by_who_sweeps(
    seeds: Seeds, roused: Roused, start: Start, sql: Sql
) -> None:
    await seeds.thread("a")
    await sql("UPDATE threads SET searched_seq = 0 WHERE agent <> ''")
    await start(roused)
    async with asyncio.timeout(30):
        while await sql("SELECT 1 FROM threads WHERE searched_seq < seq"):
            await asyncio.sleep(0.01)


async def test_a_killed_worker_s_turn_is_roused_at_once_although_it_was_just_checked(
    seeds: Seeds, roused: Roused, start: Start, spawn: Spawn, sql: Sql
) -> None:
    worker = await spawn("presence", LONG_LEASE_S)
    key = await seeds.calling("a", await worker.line())
    row = await seeds.journal.thread(key)
    assert row is not None
    await start(roused)
    async with asyncio.timeout(30):  # seen alive, and not to be looked at again for seconds
        while not await sql("SELECT 1 FROM hints WHERE next_check_at_us > $1", row.at_us + 5 * SECOND_US):
            await asyncio.sleep(0.01)
    assert roused.suspects == []
    worker.kill()
    await until(lambda: bool(roused.suspects))
    assert roused.suspects[0].why == "due"
    assert roused.suspects[0].turn_id == turn_id(key, "first")


async def test_a_killed_worker_s_turns_are_found_by_whoever_leads_next(
    seeds: Seeds, roused: Roused, start: Start, spawn: Spawn
) -> None:
    leader = await spawn("sweep", "0.05", "600")
    assert await leader.line() == "leads"
    worker = await spawn("presence", LONG_LEASE_S)
    await seeds.calling("a", await worker.line())
    await start(roused, SLOW)
    worker.kill()
    leader.kill()
    await until(lambda: bool(roused.suspects))


async def test_a_frozen_worker_s_model_call_is_given_up_when_its_lease_is_over(
    seeds: Seeds, roused: Roused, start: Start, spawn: Spawn
) -> None:
    worker = await spawn("presence", "1")
    await seeds.calling("a", await worker.line())
    await start(roused, SLOW)
    worker.freeze()
    await until(lambda: bool(roused.suspects))
    worker.thaw()


async def test_while_the_leader_is_frozen_another_sweeps_and_both_may_go_on(
    driver: Driver, seeds: Seeds, roused: Roused, start: Start, spawn: Spawn
) -> None:
    leader = await spawn("sweep", "0.05", "0.1")
    assert await leader.line() == "leads"
    other = await start(roused)
    await freeze_between_transactions(leader, driver)
    await seeds.thread("a")
    await until(lambda: "a" in roused.threads)
    assert not other.lead.held, "the lock is still the frozen one's"
    leader.thaw()
    while (await driver.leader("sweeper")).state != "alive":
        await asyncio.sleep(0.01)
    await seeds.thread("b")
    while not (await leader.line()).startswith("roused"):
        pass


async def freeze_between_transactions(worker: Speaking, driver: Driver) -> None:
    """On SQLite a process that is stopped inside one blocks all others."""
    while True:
        worker.freeze()
        try:
            async with asyncio.timeout(2):
                await driver.write(partial(prune_hints, 0))
        except TimeoutError:
            worker.thaw()
        else:
            return


@pytest.fixture
async def frozen_leader(driver: Driver) -> None:
    """Somebody holds the lead and does not move: whoever else sweeps does it as a deputy, as many as there are."""
    assert await driver.try_lead(LEAD, lease_s=0.001) is not None
    async with asyncio.timeout(30):
        while (await driver.leader(LEAD)).state != "lapsed":
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("frozen_leader")
async def test_two_sweepers_at_once_rouse_each_thread_once_for_each_look(seeds: Seeds, start: Start) -> None:
    for n in range(20):
        await seeds.thread(f"t{n}")
    rousers = Roused(), Roused()
    for rouser in rousers:
        await start(rouser)
    # Three looks, whoever of the two takes which wake-up: the other one looks at the same threads at the same time.
    await until(lambda: sum(len(rouser.suspects) for rouser in rousers) >= 60)
    counted = [(s.thread_id, s.wakes) for rouser in rousers for s in rouser.suspects if s.counted]
    assert len(counted) == len(set(counted))


@pytest.mark.slow
@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("frozen_leader")
async def test_a_thousand_threads_are_roused_page_by_page_and_a_few_at_once_by_two_sweepers(
    seeds: Seeds, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crowded(Roused):
        now = most = 0

        async def rouse(self, suspect: Suspect) -> None:
            Crowded.now += 1
            Crowded.most = max(self.most, self.now)
            await asyncio.sleep(0)
            await super().rouse(suspect)
            Crowded.now -= 1

    monkeypatch.setattr("turnwright.worker.sweeper.PAGE_THREADS_MAX", 50)
    monkeypatch.setattr("turnwright.worker.wakes.PER_S_MAX", 10_000)
    names = {f"t{n}" for n in range(1_050)}
    await asyncio.gather(*map(seeds.thread, names))
    rousers = Crowded(), Crowded()
    for rouser in rousers:
        await start(rouser)
    await until(lambda: {name for rouser in rousers for name in rouser.threads} == names)
    assert Crowded.most <= 2 * AT_ONCE_MAX
    counted = [(s.thread_id, s.wakes) for rouser in rousers for s in rouser.suspects if s.counted]
    assert len(counted) == len(set(counted))


async def test_a_sweeper_that_stops_lets_another_lead(roused: Roused, start: Start) -> None:
    first = await start(roused)
    await until(lambda: first.lead.held)
    second = await start(roused)
    await first.stop()
    await until(lambda: second.lead.held)
    await first.start()
    await second.stop()
    await until(lambda: first.lead.held)


async def test_while_temporal_is_away_nothing_counts_and_when_it_is_back_all_are_roused(
    seeds: Seeds, roused: Roused, start: Start, sql: Sql
) -> None:
    for n in range(15):
        await seeds.thread(f"t{n}")
    roused.away = True
    await start(roused)
    await until(lambda: roused.refused > 15)
    roused.away = False
    await until(lambda: len(set(roused.threads)) == 15)
    assert max(suspect.wakes for suspect in roused.suspects[:15]) <= 1


async def test_one_thread_s_trouble_keeps_no_other_asleep(seeds: Seeds, start: Start) -> None:
    class Picky(Roused):
        async def rouse(self, suspect: object) -> None:
            await super().rouse(suspect)  # type: ignore[arg-type]
            if self.threads[-1] == "bad":
                raise ValueError("an id nobody accepts")

    picky = Picky()
    await seeds.thread("bad")
    await seeds.thread("good")
    await start(picky)
    await until(lambda: "good" in picky.threads)


async def test_threads_a_living_worker_works_on_are_left_alone_while_others_are_roused(
    seeds: Seeds, roused: Roused, start: Start, spawn: Spawn
) -> None:
    worker = await spawn("presence", LONG_LEASE_S)
    await seeds.calling("busy", await worker.line())
    await seeds.thread("idle")
    await start(roused)
    await until(lambda: len(roused.suspects) >= 2)
    assert set(roused.threads) == {"idle"}
