"""What only the server store has: connections that break, conflicts, and processes stopped inside."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial

import pytest

from tests.integration.stores.conftest import Look, Spawn
from tests.integration.stores.seeds import open_thread, remember, remembers
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import HoldLost, StoreUnavailable
from turnwright.journal.postgres import runner
from turnwright.journal.script import Script, first

LONG_S = 60.0
MINE = "SELECT pid FROM pg_stat_activity WHERE application_name = 'turnwright' AND pid <> pg_backend_pid()"


@pytest.fixture
def journal_url(postgres_url: str) -> str:
    return postgres_url


async def break_connections(look: Look) -> None:
    """Every connection of every driver ends, as when the server restarts or a network device forgets them."""
    await look(f"SELECT pg_terminate_backend(pid, 10000) FROM ({MINE}) AS mine")


async def test_a_broken_connection_is_unavailable_and_the_next_write_works(driver: Driver, look: Look) -> None:
    async def hook(point: str) -> None:
        if point == "commit":
            await break_connections(look)

    driver.hook = hook
    with pytest.raises(StoreUnavailable):
        await driver.write(partial(remember, "lost"))
    driver.hook = None
    await driver.write(partial(remember, "next"))
    assert await driver.read(partial(remembers, "lost", "next")) == [False, True]


@pytest.mark.parametrize("times", [1, 2])
async def test_a_read_whose_connection_breaks_is_begun_once_more(driver: Driver, look: Look, times: int) -> None:
    await driver.write(partial(remember, "there"))
    broken: list[str] = []

    async def hook(point: str) -> None:
        if point == "commit" and len(broken) < times:
            broken.append(point)
            await break_connections(look)

    driver.hook = hook
    if times == 1:
        assert await driver.read(partial(remembers, "there", "not")) == [True, False]
    else:
        with pytest.raises(StoreUnavailable):
            await driver.read(partial(remembers, "there", "not"))
    assert len(broken) == times


async def test_a_broken_connection_takes_presence_and_lead_with_it(driver: Driver, other: Driver, look: Look) -> None:
    presence = await driver.hold_presence("p1", {}, lease_s=LONG_S)
    lead = await driver.try_lead("sweep", lease_s=LONG_S)
    assert lead is not None
    await break_connections(look)
    with pytest.raises(HoldLost, match="take it again"):
        await presence.beat()
    assert presence.lost
    assert lead.lost
    await presence.release()
    async with asyncio.timeout(30):
        while (await soon_alive(other, "p1")) != "dead":
            await asyncio.sleep(0.05)
    await driver.hold_presence("p1", {}, lease_s=LONG_S)
    assert (await other.liveness(["p1"]))["p1"].state == "alive"
    assert await other.try_lead("sweep", lease_s=LONG_S) is not None


@pytest.mark.parametrize(
    ("held", "beat_age_s", "server_age_s", "state"),
    [
        (True, 1.0, 900.0, "alive"),
        (True, 11.0, 900.0, "lapsed"),
        (True, None, 900.0, "alive"),
        (False, None, 900.0, "dead"),
        (False, 1.0, 900.0, "lapsed"),
        (False, 4.0, 900.0, "dead"),
        (False, 4.0, 1.0, "alive"),
        (False, None, 1.0, "dead"),
    ],
)
def test_a_free_lock_is_a_death_only_when_whoever_lives_would_have_taken_it_again(
    held: bool, beat_age_s: float | None, server_age_s: float, state: str
) -> None:
    lease_s = None if beat_age_s is None else 10.0
    assert runner._liveness(held, beat_age_s, lease_s, server_age_s).state == state


async def soon_alive(driver: Driver, presence_id: str) -> str:
    """The state, after the pool noticed that its idle connections are gone."""
    for _ in range(20):
        try:
            return (await driver.liveness([presence_id]))[presence_id].state
        except StoreUnavailable:
            continue
    raise AssertionError


async def test_a_listener_that_lost_its_connection_wakes_everybody_and_hears_again(
    driver: Driver, other: Driver, look: Look
) -> None:
    async with driver.watch({"never touched"}) as watch:
        await break_connections(look)
        assert await watch.changed(20)
        async with asyncio.timeout(30):
            heard = False
            while not heard:
                try:
                    await other.write(partial(remember, f"{asyncio.get_running_loop().time()}"))
                except StoreUnavailable:
                    continue
                heard = await watch.changed(0.5)


async def test_scripts_that_deadlock_are_run_again_and_both_commit(driver: Driver, look: Look) -> None:
    await driver.write(partial(open_thread, "a"))
    await driver.write(partial(open_thread, "b"))
    both_hold_one = asyncio.Barrier(2)
    meetings = 0

    def lock_both(one: str, two: str) -> Script[None]:
        yield from first("lock_thread", f'["t",null,"a","{one}","main"]')
        yield from first("clock")
        yield from first("lock_thread", f'["t",null,"a","{two}","main"]')

    async def hook(point: str) -> None:
        nonlocal meetings
        if point == "clock":
            meetings += 1
            if meetings <= 2:
                await both_hold_one.wait()

    driver.hook = hook
    await asyncio.gather(driver.write(partial(lock_both, "a", "b")), driver.write(partial(lock_both, "b", "a")))
    assert meetings == 3, "the victim of the deadlock ran again"


async def test_threads_that_keep_appending_do_not_keep_a_session_command_out(driver: Driver, look: Look) -> None:
    place = await driver.write(partial(open_thread, "a"))
    session, thread, other = '["t",null,"a"]', '["t",null,"a","a","main"]', '["t",null,"a","a","other"]'
    await driver.write(
        lambda: first("insert_thread", other, place.session_id, "t", "a", "other", b"", 0, b"{}", 1),
    )
    go_on = asyncio.Event()
    order: list[str] = []

    def locked(name: str, *statement: str) -> Script[None]:
        yield from first(*statement)
        order.append(name)
        yield from first("clock")

    async def hook(point: str) -> None:
        if point == "clock":
            await go_on.wait()

    driver.hook = hook
    sharing = asyncio.ensure_future(driver.write(partial(locked, "thread", "lock_in_session", thread, session)))
    await until(lambda: order == ["thread"])
    commanding = asyncio.ensure_future(driver.write(partial(locked, "session", "lock_session", session)))
    await until_waiting(look, 1)
    late = asyncio.ensure_future(driver.write(partial(locked, "late thread", "lock_in_session", other, session)))
    await until_waiting(look, 2)
    go_on.set()
    await asyncio.gather(sharing, commanding, late)
    assert order == ["thread", "session", "late thread"]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def until_waiting(look: Look, sessions: int) -> None:
    """So many sessions of this server wait for a lock."""
    async with asyncio.timeout(20):
        while (await look("SELECT count(*) FROM pg_locks WHERE NOT granted")) != [(sessions,)]:
            await asyncio.sleep(0.01)


async def test_a_process_stopped_inside_its_transaction_is_cut_off_by_the_server(driver: Driver, spawn: Spawn) -> None:
    child = await spawn("block", "commit")
    assert await child.line() == "inside"
    os.kill(child.pid, signal.SIGSTOP)
    await driver.write(partial(remember, "from the child"))  # waits for the child's row
    assert await driver.read(partial(remembers, "from the child")) == [True]


async def test_a_cancelled_task_gives_its_connection_back_without_a_transaction(postgres_url: str) -> None:
    driver = open_driver(f"{postgres_url}&connections_max=1")
    await driver.start()
    await driver.migrate()
    for point in ("begin", "insert_session", "commit"):
        inside = asyncio.Event()

        async def hook(name: str, inside: asyncio.Event = inside, point: str = point) -> None:
            if name == point:
                inside.set()
                await asyncio.sleep(LONG_S)

        driver.hook = hook
        task = asyncio.ensure_future(driver.write(partial(remember, point)))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        driver.hook = None
        assert await driver.read(partial(remembers, point)) == [False]
    await driver.stop()


async def test_journals_in_one_database_do_not_meet(driver: Driver, postgres_server: str) -> None:
    second = open_driver(f"{postgres_server}&schema=another")
    await second.start()
    await second.migrate()
    await driver.write(partial(remember, "here"))
    await driver.hold_presence("p1", {}, lease_s=LONG_S)
    lead = await driver.try_lead("sweep", lease_s=LONG_S)
    assert lead is not None
    assert await second.read(partial(remembers, "here")) == [False]
    assert (await second.liveness(["p1"]))["p1"].state == "dead"
    assert await second.try_lead("sweep", lease_s=LONG_S) is not None
    await second.stop()
