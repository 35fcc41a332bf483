"""One Temporal serves a journal at a time, and a journal with a new id is another one to it."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.integration.worker.conftest import Spawn, Sql
from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import (
    JournalRenamed,
    Rival,
    Standing,
    begin_serving,
    earlier_ids,
    end_serving,
    find_rival,
    forget_ended,
    note_ended,
    renew,
    see_standing,
    unended_ids,
)

ONE, TWO = "cluster-1/namespace", "cluster-2/namespace"


@pytest.fixture
async def present(driver: Driver) -> AsyncIterator[str]:
    """A living worker's presence."""
    hold = await driver.hold_presence("w-1", {}, lease_s=60)
    yield hold.name
    await hold.release()


async def serve(driver: Driver, presence: str, engine: str) -> Rival | None:
    return await driver.write(partial(begin_serving, presence, engine, await Journal(driver).journal_id()))


async def test_a_journal_is_not_served_through_another_temporal_while_a_worker_lives(
    driver: Driver, present: str
) -> None:
    assert await serve(driver, present, ONE) is None
    assert await serve(driver, "w-2", TWO) == Rival(present, ONE)
    assert await driver.read(partial(find_rival, present, ONE)) is None, "who was refused left nothing"
    assert await serve(driver, "w-3", ONE) is None


async def test_the_same_worker_may_move_and_who_has_ended_bars_nobody(driver: Driver, present: str) -> None:
    assert await serve(driver, present, ONE) is None
    assert await serve(driver, present, TWO) is None
    assert await serve(driver, "w-2", ONE) == Rival(present, TWO)
    await driver.write(partial(end_serving, present))
    assert await serve(driver, "w-2", ONE) is None


async def test_neither_a_dead_worker_nor_a_frozen_one_bars_another_temporal(driver: Driver, spawn: Spawn) -> None:
    for ends in ("kill", "freeze"):
        worker = await spawn("presence", "0.2")
        name = await worker.line()
        assert await serve(driver, name, ONE) is None
        worker.kill() if ends == "kill" else worker.freeze()
        while await serve(driver, "w-2", TWO) is not None:
            pass
        await driver.write(partial(end_serving, "w-2"))


async def test_a_worker_that_lost_its_place_while_it_was_frozen_finds_that_out(driver: Driver, spawn: Spawn) -> None:
    """It is no rival of those that came meanwhile: else both sides would stop."""
    journal_id = await Journal(driver).journal_id()
    worker = await spawn("presence", "0.2")
    name = await worker.line()
    assert await serve(driver, name, ONE) is None
    assert await driver.read(partial(see_standing, name, ONE, journal_id)) == Standing(serves=True, rival=None)
    worker.freeze()
    hold = await driver.hold_presence("w-2", {}, lease_s=60)
    while await serve(driver, hold.name, TWO) is not None:
        pass
    worker.thaw()
    while (await driver.liveness([name]))[name].state != "alive":
        pass
    assert await driver.read(partial(find_rival, hold.name, TWO)) is None
    left = Standing(serves=False, rival=Rival(hold.name, TWO))
    assert await driver.read(partial(see_standing, name, ONE, journal_id)) == left
    await hold.release()


async def test_what_workers_that_are_gone_left_is_cleared_away_by_the_next(
    driver: Driver, present: str, spawn: Spawn, sql: Sql
) -> None:
    worker = await spawn("presence", "60")
    name = await worker.line()
    for each in (name, present, "w-never-lived"):
        assert await serve(driver, each, ONE) is None
    worker.kill()
    while (await driver.liveness([name]))[name].state == "alive":
        pass
    assert await serve(driver, present, ONE) is None
    assert await sql("SELECT presence FROM serving") == [(present,)]


async def test_who_knows_the_journal_by_an_earlier_id_serves_it_no_more(driver: Driver, present: str) -> None:
    before = await Journal(driver).journal_id()
    await driver.write(partial(renew, "new"))
    for look in (driver.read, driver.write):
        script = see_standing if look == driver.read else begin_serving
        with pytest.raises(JournalRenamed, match="is new now"):
            await look(partial(script, present, ONE, before))
    assert await driver.read(partial(find_rival, "w-2", TWO)) is None, "it left nothing"


async def test_a_journal_gets_a_new_id_only_when_nobody_serves_it(driver: Driver, present: str) -> None:
    journal = Journal(driver)
    before = await journal.journal_id()
    await serve(driver, present, ONE)
    refused = await driver.write(partial(renew, "new"))
    assert (refused.rivals, await journal.journal_id()) == ((Rival(present, ONE),), before)
    assert await driver.read(earlier_ids) == frozenset()
    await driver.write(partial(end_serving, present))
    for new, old in (("new", before), ("newer", "new")):
        renewed = await driver.write(partial(renew, new))
        assert (renewed.earlier, renewed.now, renewed.rivals) == (old, new, ())
    assert await journal.journal_id() == "newer"
    assert await driver.read(earlier_ids) == {before, "new"}


async def test_what_was_begun_under_an_earlier_id_is_ended_once_in_each_temporal(driver: Driver) -> None:
    before = await Journal(driver).journal_id()
    await driver.write(partial(renew, "new"))
    await driver.write(partial(renew, "newer"))
    assert await driver.read(partial(unended_ids, ONE)) == tuple(sorted((before, "new")))
    await driver.write(partial(note_ended, before, ONE))
    assert await driver.read(partial(unended_ids, ONE)) == ("new",)
    assert await driver.read(partial(unended_ids, TWO)) == tuple(sorted((before, "new")))
    await driver.write(partial(note_ended, before, TWO))
    assert await driver.read(partial(unended_ids, TWO)) == ("new",)
    assert await driver.read(partial(unended_ids, ONE)) == ("new",), "who comes back to it ends nothing of others"
    assert await driver.read(earlier_ids) == {before, "new"}


async def test_what_was_begun_under_an_earlier_id_after_it_was_ended_is_ended_again(driver: Driver, sql: Sql) -> None:
    before = await Journal(driver).journal_id()
    await driver.write(partial(renew, "new"))
    for note in (before, f"{before} {TWO}"):  # as older versions wrote it, and as it is
        await sql("INSERT INTO meta (name, value) VALUES ($1, $2)", f"ended:{note}", TWO)
        await driver.write(partial(note_ended, before, ONE))
        assert [await driver.read(partial(unended_ids, engine)) for engine in (ONE, TWO)] == [(), ()]
        await driver.write(partial(forget_ended, before, TWO))
        assert [await driver.read(partial(unended_ids, engine)) for engine in (ONE, TWO)] == [(), (before,)]
