"""Words of running model calls: heard once and in order while somebody listens, and gone with the call."""

import asyncio
from typing import Any

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from tests.integration.journal.test_deletions import Nobody
from turnwright.activities.models.port import Partial
from turnwright.activities.runtime.drafting import Draft
from turnwright.activities.runtime.seldom import Seldom
from turnwright.activities.runtime.watcher import Watched
from turnwright.journal.commands import DeleteSession, FailModel, Look, RequestModel
from turnwright.journal.deltas import NOTHING_HEARD, Delta, DeltaPlace, Heard, Spoken
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.transact import deltas
from turnwright.journal.transact.deltas import prune_deltas
from turnwright.worker.sweeper import Sweeper, SweepSettings

AT_ONCE_S = 0.0
HOUR_US = 3_600_000_000
GONE_S_MAX = 10.0


def delta(turn: str, text: str, *, index: int = 0, kind: Spoken = "text", step: int = 1, ordinal: int = 1) -> Delta:
    return Delta(turn_id=turn, step=step, ordinal=ordinal, index=index, kind=kind, text=text)


async def speaking(played: Played) -> tuple[str, int]:
    """A turn whose model call runs, and its epoch."""
    turn = await played.submit("task")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    return turn, epoch


async def say(played: Played, n: int, *said: Delta) -> None:
    row = await played.journal.thread(KEY)
    assert row is not None
    await played.journal.deltas.add(KEY, row.id, n, said)


async def hear(played: Played, after: DeltaPlace = NOTHING_HEARD) -> Heard:
    return await played.journal.deltas.read(KEY, after)


async def drafts(sql: Sql) -> int:
    [(count,)] = await sql("SELECT count(*) FROM drafts")
    return int(count)


async def test_words_are_heard_once_and_those_of_a_block_together(played: Played) -> None:
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "hm", kind="thinking"), delta(turn, "It ", index=1))
    await say(played, 3, delta(turn, "is ", index=1))
    heard = await hear(played)
    assert heard.deltas == (delta(turn, "hm", kind="thinking"), delta(turn, "It is ", index=1))
    assert await hear(played, heard.place) == Heard(place=heard.place)
    await say(played, 4, delta(turn, "so.", index=1))
    assert (await hear(played, heard.place)).deltas == (delta(turn, "so.", index=1),)


async def test_a_batch_that_is_written_again_is_heard_once(played: Played) -> None:
    turn, _ = await speaking(played)
    for _ in range(2):
        await say(played, 1, delta(turn, "once"))
    assert (await hear(played)).deltas == (delta(turn, "once"),)


async def test_another_attempt_begins_anew_for_who_has_heard_the_one_before(played: Played) -> None:
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "Once"), delta(turn, " upon"))
    place = (await hear(played)).place
    await say(played, 1, delta(turn, "Again", ordinal=2))
    assert (await hear(played, place)).deltas == (delta(turn, "Again", ordinal=2),)
    await say(played, 2, delta(turn, "and on", step=2))
    assert (await hear(played, place)).deltas == (delta(turn, "and on", step=2),)


@pytest.mark.parametrize("drafted", [True, False])
async def test_words_go_with_the_report_of_their_attempt_and_those_of_others_stay(
    played: Played, sql: Sql, *, drafted: bool
) -> None:
    turn, epoch = await speaking(played)
    await say(played, 1, delta(turn, "It"), delta(turn, " is."))
    await say(played, 1, delta(turn, "later", step=2))
    await played.answer(turn, epoch, Text(text="It is."), drafted=drafted)
    assert await drafts(sql) == (1 if drafted else 3)


async def test_a_report_that_is_not_committed_leaves_its_words(played: Played, driver: Driver, sql: Sql) -> None:
    turn, epoch = await speaking(played)
    await say(played, 1, delta(turn, "It is."))

    def crash(point: str) -> None:
        if point == "commit":
            raise RuntimeError

    driver.hook = crash
    with pytest.raises(RuntimeError):
        await played.answer(turn, epoch, Text(text="It is."), drafted=True)
    driver.hook = None
    assert await drafts(sql) == 1


async def test_words_of_a_failed_attempt_go_and_the_next_one_s_come(played: Played, sql: Sql) -> None:
    turn, epoch = await speaking(played)
    await say(played, 1, delta(turn, "Once"))
    failed = FailModel(
        turn_id=turn, epoch=epoch, step=1, ordinal=1, failure="cut", message="cut", retry_after_s=0, drafted=True
    )
    await played.run(KEY, failed)
    assert await drafts(sql) == 0
    await say(played, 1, delta(turn, "Anew", ordinal=2))
    assert (await hear(played)).deltas == (delta(turn, "Anew", ordinal=2),)


async def test_words_of_a_worker_that_is_gone_go_when_its_attempt_is_given_up(
    played: Played, driver: Driver, sql: Sql
) -> None:
    hold = await driver.hold_presence("gone", {}, lease_s=600)
    turn = await played.submit("task")
    epoch = await played.claim(turn)
    await played.run(KEY, RequestModel(turn_id=turn, epoch=epoch, step=1, nonce="n", presence="gone"))
    await say(played, 1, delta(turn, "last words"))
    await hold.release()
    while "model.interrupted" not in [entry.type for entry in await played.journal.entries(KEY)]:
        await played.run(KEY, Look(turn_id=turn, epoch=epoch))  # a server that has just started takes nobody for dead
        await asyncio.sleep(0.05)
    assert await drafts(sql) == 0


async def test_nothing_is_kept_of_a_turn_that_is_not_active(played: Played, sql: Sql) -> None:
    turn, epoch = await speaking(played)
    await played.answer(turn, epoch, Text(text="done"))
    await say(played, 1, delta(turn, "a straggler's"))
    await say(played, 1, delta("t-never", "nobody's"))
    assert await drafts(sql) == 0
    assert await hear(played) == Heard()


async def test_a_sweep_drops_what_crashes_left_after_an_hour(played: Played, driver: Driver, sql: Sql) -> None:
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "old"))
    await sql("UPDATE drafts SET written_us = written_us - $1", HOUR_US)
    await say(played, 2, delta(turn, "new"))
    await hear(played)
    await driver.write(prune_deltas)
    assert (await hear(played)).deltas == (delta(turn, "new"),)
    assert await played.journal.deltas.listened({KEY}) == {KEY}
    await sql("UPDATE listeners SET until_us = 5")
    await driver.write(prune_deltas)
    assert await sql("SELECT * FROM listeners") == []


async def test_the_leading_sweeper_drops_it(played: Played, driver: Driver, sql: Sql) -> None:
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "old"))
    await sql("UPDATE drafts SET written_us = written_us - $1", HOUR_US)
    sweeper = Sweeper(driver, Nobody(), lambda: played.journal.terms, SweepSettings(interval_s=0.05))
    await sweeper.start()
    try:
        while await drafts(sql):
            await asyncio.sleep(0.02)
    finally:
        await sweeper.stop()


async def test_a_deleted_session_takes_words_that_were_left_along(played: Played, sql: Sql) -> None:
    turn, epoch = await speaking(played)
    await say(played, 1, delta(turn, "secret words"))
    await played.answer(turn, epoch, Text(text="done"))
    assert await drafts(sql) == 1
    deleted = await delete_session(played.journal, SESSION, DeleteSession(request_id="d", principal="ann"))
    assert deleted.receipt.status == "accepted"
    assert await drafts(sql) == 0


async def test_who_reads_listens_for_some_seconds_and_nobody_else_does(played: Played, sql: Sql) -> None:
    await played.submit("task")
    other = ThreadKey("t", None, "agent", "s", "other")
    listened = played.journal.deltas.listened
    assert await listened({KEY, other}) == frozenset()
    await hear(played)
    assert await listened({KEY, other}) == {KEY}
    await sql("UPDATE listeners SET until_us = until_us - $1", 7_000_000)
    assert await listened({KEY, other}) == frozenset()


async def test_who_reads_a_thread_that_is_not_there_leaves_nothing_behind(played: Played, sql: Sql) -> None:
    other = ThreadKey("t", None, "agent", "s", "other")
    assert await played.journal.deltas.read(other, NOTHING_HEARD) == Heard()
    assert await sql("SELECT * FROM listeners") == []
    await played.submit("task")
    await hear(played)
    assert len(await sql("SELECT * FROM listeners")) == 1


async def test_many_readers_of_a_thread_say_once_that_they_listen(played: Played, driver: Driver) -> None:
    await played.submit("task")
    seen: list[str] = []
    driver.hook = seen.append
    for _ in range(5):
        await hear(played)
    driver.hook = None
    assert seen.count("listen") == 1


async def test_a_reader_whose_word_was_lost_says_again_that_it_listens(played: Played, driver: Driver) -> None:
    await played.submit("task")

    def refuse(point: str) -> None:
        if point == "listen":
            raise RuntimeError

    driver.hook = refuse
    with pytest.raises(RuntimeError):
        await hear(played)
    driver.hook = None
    await hear(played)
    assert await played.journal.deltas.listened({KEY}) == {KEY}


async def test_only_who_listens_is_woken_by_words(played: Played) -> None:
    turn, epoch = await speaking(played)
    async with played.journal.watch(KEY) as reader, played.journal.deltas.watch(KEY) as listener:
        await say(played, 1, delta(turn, "word"))
        assert [await watch.changed(AT_ONCE_S) for watch in (reader, listener)] == [False, True]
        await hear(played)
        assert [await watch.changed(AT_ONCE_S) for watch in (reader, listener)] == [False, False]
        await played.answer(turn, epoch, Text(text="word"))
        assert [await watch.changed(AT_ONCE_S) for watch in (reader, listener)] == [True, True]


def test_the_topics_of_a_thread_differ_and_are_short() -> None:
    topics: set[Any] = {deltas.said_topic(KEY), deltas.said_topic(ThreadKey("t", None, "agent", "s", "other"))}
    assert len(topics) == 2
    assert {len(topic) for topic in topics} == {24}


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_a_call_that_is_stopped_again_while_its_words_are_on_their_way_leaves_no_writer(driver: Driver) -> None:
    on_its_way = asyncio.Event()

    async def held() -> None:
        on_its_way.set()
        await asyncio.Event().wait()

    driver.hook = lambda point: held() if point == "insert_draft" else None
    draft = Draft(Journal(driver).deltas, Watched(KEY, 1, "t-1", 1, 1), Seldom())
    partial = Partial()
    partial.extend(0, "text", "Once")
    draft.said(partial)
    before = asyncio.all_tasks()
    draft.hear(listened=True)
    [writing] = asyncio.all_tasks() - before
    await on_its_way.wait()
    closing = asyncio.create_task(draft.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing, writing], timeout=GONE_S_MAX)
    assert writing.cancelled()
