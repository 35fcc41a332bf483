"""The database is away for a while in the middle of a turn: the turn finishes afterwards, and nothing is doubled."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.harness.proxy import Proxy, open_proxy
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.client.opening import open_journal
from turnwright.journal.errors import HoldLost, StoreUnavailable
from turnwright.worker.temporal_server import TemporalServer

AWAY_S = 5.0
LONG_AWAY_S = 30.0
SHORT = {"lease_s": 1.0, "once_grace_s": 1.0}


@pytest.fixture
async def way(postgres_url: str) -> AsyncIterator[Proxy]:
    """What workers go by; the test itself keeps its sight of the journal."""
    async with open_proxy(postgres_url) as proxy:
        yield proxy


@pytest.fixture
async def remote(postgres_url: str, tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[World]:
    """On a server that workers reach over a network."""
    async with World.open(postgres_url, tmp_path, temporal) as world:
        yield world


@pytest.mark.parametrize("away_s", [AWAY_S, pytest.param(LONG_AWAY_S, marks=pytest.mark.slow)])
async def test_a_turn_outlives_a_store_that_goes_away_between_an_effect_and_its_result(
    remote: World, way: Proxy, away_s: float
) -> None:
    await remote.start_worker(url=way.url)
    turn = await remote.submit(call("post", before="away", after="posted"), call("charge"), say("{result}"))
    await remote.until_ledger("began", "post")
    await way.cut()
    remote.ledger.open("away")
    await remote.until_ledger("effect", "post")
    remote.ledger.open("posted")
    await asyncio.sleep(away_s)
    await way.mend()
    await remote.until_status(turn, "completed")
    await nothing_was_doubled(remote, turn)


async def test_a_turn_outlives_a_store_that_goes_away_while_the_model_answers(remote: World, way: Proxy) -> None:
    await remote.start_worker(url=way.url)
    turn = await remote.submit(call("post"), call("charge"), say("{result}", delay_s=AWAY_S / 2, chunk_characters=100))
    await remote.until_entry(turn.key, "model.requested", 3)
    await way.cut()
    await asyncio.sleep(AWAY_S)
    await way.mend()
    await remote.until_status(turn, "completed")
    await nothing_was_doubled(remote, turn)


async def test_what_waits_for_a_silent_store_is_told_as_soon_as_a_beat_is_not_answered(way: Proxy) -> None:
    journal = await open_journal(way.url, migrate=True)
    hold = await journal.driver.hold_presence("p1", {}, lease_s=SHORT["lease_s"])
    await way.silence()
    asked = asyncio.create_task(journal.journal_id())
    await asyncio.sleep(0)
    with pytest.raises(HoldLost):
        await hold.beat()
    with pytest.raises(StoreUnavailable):
        await asked
    await way.mend()
    assert await journal.journal_id()
    await journal.close()


@pytest.mark.slow
async def test_a_worker_whose_store_is_silent_is_taken_over_and_doubles_nothing_when_it_is_heard_again(
    remote: World, way: Proxy
) -> None:
    other = remote.prepare_worker(settings=SHORT)
    cut_off = await remote.start_worker(url=way.url, settings=SHORT)
    turn = await remote.submit(call("charge", before="silent"), call("post"), say("{result}"))
    await remote.until_ledger("began", "charge")
    await way.silence()
    remote.ledger.open("silent")
    await remote.let_work(other)
    await remote.until_status(turn, "completed")
    before = await remote.transcript()
    await way.mend()
    await remote.until_entry(turn.key, "tool.late")
    assert await remote.transcript() == before
    assert remote.ledger.pids("effect", "post") == [other.pid]
    assert set(remote.ledger.pids("effect", "charge")) == {cut_off.pid, other.pid}
    assert len(set(remote.ledger.keys("effect", "charge"))) == 1


async def test_a_turn_submitted_while_the_workers_see_no_store_runs_once_they_do(remote: World, way: Proxy) -> None:
    worker = await remote.start_worker(url=way.url)
    await way.cut()
    turn = await remote.submit(call("post"), call("charge"), say("{result}"))
    await asyncio.sleep(AWAY_S / 4)
    await way.mend()
    await remote.until_status(turn, "completed")
    await nothing_was_doubled(remote, turn)
    assert worker.is_running


async def nothing_was_doubled(world: World, turn: Turn) -> None:
    """Nor lost: every message is there, once."""
    assert len(world.ledger.keys("effect", "post")) == 1
    assert len(set(world.ledger.keys("effect", "charge"))) == 1
    said = [(message["role"], message["text"]) for message in await world.transcript()]
    calls = [("assistant", ""), ("tool", "")]
    assert said == [("user", "please"), *calls, *calls, ("assistant", "charge done")]
    assert (await world.types(turn)).count("turn.completed") == 1
