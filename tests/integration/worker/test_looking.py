"""What a look at the journal finds: threads with work that nobody carries on, and no others."""

import asyncio
from functools import partial

import pytest

from tests.integration.worker.conftest import Seeds, Sql
from turnwright.journal import store_admin
from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import (
    CancelSession,
    ClientCommand,
    FailModel,
    PauseSession,
    PauseThread,
    PauseTurn,
    SessionCommand,
)
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Draft, InteractionRequested, TurnWaiting
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.script import Script
from turnwright.journal.store import Journal
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.deadlines import note_deadline
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.sweeping import (
    Broken,
    Glance,
    Page,
    Suspect,
    find_cancelled,
    find_expired,
    find_stalled,
    forget_hints,
    prune_hints,
    put_back,
    take_wakes,
)
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.transact.turns import project_turns
from turnwright.journal.turn_status import status_draft
from turnwright.worker import recovery
from turnwright.worker.recovery import Case, Recovery

HINTS = "SELECT wakes, next_check_at_us FROM hints ORDER BY thread_id"
BACKOFF_IS_OVER = "UPDATE hints SET next_check_at_us = 0"
NOW = Glance(stall_us=0, limit=100)
LATER = Glance(stall_us=60 * SECOND_US, limit=100)
URGENT = Glance(stall_us=60 * SECOND_US, limit=100, urgent=True)


async def look(driver: Driver, glance: Glance = NOW, after: int = 0) -> Page:
    return await driver.read(partial(find_stalled, after, glance, Terms()))


async def found(driver: Driver, glance: Glance = NOW) -> list[str]:
    return [suspect.key.thread for suspect in (await look(driver, glance)).suspects]


def ask(key: ThreadKey, deadline_us: int | None) -> Script[None]:
    """Let the active turn wait for an answer."""
    row = yield from lock_thread(key)
    assert row is not None
    assert row.control.active is not None
    turn = row.control.active.turn_id
    question = InteractionRequested(interaction_id="i", kind="approval", deadline_us=deadline_us, asked={})
    waiting = TurnWaiting(interactions=("i",), revision=row.control.active.status.revision + 1)
    drafts = [Draft("i/asked", question, turn_id=turn), status_draft(turn, waiting)]
    control = fold_drafts(row.control, drafts, row.at_us)
    yield from project_turns(row, [draft.at(row.seq + n, row.at_us) for n, draft in enumerate(drafts, 1)])
    yield from note_deadline(row, control)
    yield from append_drafts(row, drafts, control, row.at_us, runnable=False)


async def take(driver: Driver, page: Page) -> tuple[Suspect, ...]:
    return await driver.write(partial(take_wakes, page))


async def accept(journal: Journal, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> None:
    receipt = await journal.execute(key, command)
    assert receipt.status == "accepted", receipt


async def test_a_turn_shows_how_often_it_was_woken_since_its_last_entry(
    driver: Driver, journal: Journal, seeds: Seeds, sql: Sql
) -> None:
    key = await seeds.thread("a")
    turn = turn_id(key, "first")

    async def wakes() -> int:
        scene = await store_admin.see_turn(journal, key, turn)
        assert scene is not None
        return scene.wakes

    seen = [await wakes()]
    for _ in range(2):
        await take(driver, await look(driver))
        await sql(BACKOFF_IS_OVER)
        seen.append(await wakes())
    await accept(journal, key, PauseTurn(request_id="p", turn_id=turn))
    assert [*seen, await wakes()] == [0, 1, 2, 0]


async def test_a_queued_turn_that_nobody_started_is_found_once_it_is_older_than_the_stall(
    driver: Driver, seeds: Seeds
) -> None:
    await seeds.thread("a")
    assert await found(driver, LATER) == []
    assert await found(driver) == ["a"]
    assert await found(driver, URGENT) == ["a"]


async def test_a_turn_with_an_operation_of_a_living_worker_is_left_alone(driver: Driver, seeds: Seeds) -> None:
    hold = await driver.hold_presence("w-1", {}, lease_s=60)
    await seeds.calling("a", "w-1")
    assert await found(driver) == []
    assert await found(driver, URGENT) == []
    await hold.release()
    assert await found(driver) == ["a"]


async def test_a_turn_of_a_dead_worker_is_due_however_young_it_is(driver: Driver, seeds: Seeds) -> None:
    await seeds.orphaned("a")
    page = await look(driver, URGENT)
    assert [suspect.why for suspect in page.suspects] == ["due"]


async def test_a_worker_that_misses_its_beats_has_its_model_call_given_up(driver: Driver, seeds: Seeds) -> None:
    hold = await driver.hold_presence("w-1", {}, lease_s=0.05)
    await seeds.calling("a", "w-1")
    while (await driver.liveness(["w-1"]))["w-1"].state != "lapsed":
        pass
    assert await found(driver) == ["a"]
    await hold.beat()
    assert await found(driver) == []  # it moves again, and nobody has recorded the loss


async def wait_for_the_model(seeds: Seeds, name: str, wait_s: float) -> None:
    """A turn whose provider asked it to wait."""
    turn = turn_id(await seeds.calling(name, "w-1"), "first")
    failed = FailModel(
        turn_id=turn, epoch=1, step=1, ordinal=1, failure="rate_limited", message="", retry_after_s=wait_s
    )
    await seeds.journal.run(ThreadKey("t", None, "agent", "s", name), failed)


async def test_a_turn_that_waits_before_its_next_attempt_is_not_stalled(driver: Driver, seeds: Seeds) -> None:
    await driver.hold_presence("w-1", {}, lease_s=60)
    await wait_for_the_model(seeds, "a", 50)
    page = await look(driver)
    assert page.suspects == ()
    assert page.carried[0][2] > page.now_us + 40 * SECOND_US


async def test_parked_turns_are_no_work(driver: Driver, journal: Journal, seeds: Seeds) -> None:
    for name, command in {"turn": PauseTurn, "thread": PauseThread}.items():
        key = await seeds.started(name)
        given = {"turn_id": turn_id(key, "first")} if command is PauseTurn else {}
        await accept(journal, key, command(request_id="p", **given))
    await seeds.started("session", "other")
    await seeds.thread("queued", "other")
    await accept(journal, SessionKey("t", None, "other"), PauseSession(request_id="p"))
    assert await found(driver) == []
    assert await found(driver, URGENT) == []


async def test_a_dead_worker_s_operation_is_settled_also_while_the_session_is_paused(
    driver: Driver, journal: Journal, seeds: Seeds
) -> None:
    key = await seeds.orphaned("a")
    await accept(journal, key.session_key, PauseSession(request_id="p"))
    assert await found(driver) == ["a"]
    await journal.dispatch(key)
    assert await found(driver) == []


async def test_turns_queued_before_a_cancel_of_their_session_are_found_even_when_paused(
    driver: Driver, journal: Journal, seeds: Seeds
) -> None:
    key = await seeds.thread("a")
    await seeds.thread("elsewhere", "other")
    await accept(journal, key, PauseThread(request_id="p"))
    await accept(journal, key.session_key, PauseSession(request_id="q"))
    await accept(journal, key.session_key, CancelSession(request_id="c"))
    page = await driver.read(partial(find_cancelled, 0, 100, 100))
    assert [suspect.key.thread for suspect in page.suspects] == ["a"]
    assert page.after is None
    await journal.dispatch(key)
    assert (await driver.read(partial(find_cancelled, 0, 100, 100))).suspects == ()


async def test_sessions_with_turns_are_looked_at_in_pages(driver: Driver, journal: Journal, seeds: Seeds) -> None:
    for n in range(5):
        key = await seeds.thread("a", f"s{n}")
        await accept(journal, key.session_key, CancelSession(request_id="c"))
    sessions: list[str] = []
    after: int | None = 0
    while after is not None:
        page = await driver.read(partial(find_cancelled, after, 2, 100))
        sessions += [suspect.key.session for suspect in page.suspects]
        after = page.after
    assert sessions == [f"s{n}" for n in range(5)]


async def test_threads_with_work_are_looked_at_in_pages(driver: Driver, seeds: Seeds) -> None:
    for n in range(5):
        await seeds.thread(f"a{n}")
    threads: list[str] = []
    after: int | None = 0
    while after is not None:
        page = await look(driver, Glance(0, 2), after)
        threads += [suspect.key.thread for suspect in page.suspects]
        after = page.after
    assert threads == [f"a{n}" for n in range(5)]


async def test_a_wake_up_is_taken_by_one_sweeper_only(driver: Driver, seeds: Seeds) -> None:
    await seeds.thread("a")
    pages = [await look(driver), await look(driver)]
    assert [len(await take(driver, page)) for page in pages] == [1, 0]
    assert await found(driver) == []  # not before the backoff is over


async def test_sweepers_that_take_the_same_wake_ups_at_once_share_them_out(
    driver: Driver, seeds: Seeds, journal_url: str
) -> None:
    for n in range(20):
        await seeds.thread(f"t{n}")
    others = [open_driver(journal_url) for _ in range(3)]
    for other in others:
        await other.start()
    pages = [await look(one) for one in (driver, *others)]
    taken = await asyncio.gather(*(take(one, page) for one, page in zip((driver, *others), pages, strict=True)))
    assert sorted(suspect.thread_id for some in taken for suspect in some) == sorted(
        suspect.thread_id for suspect in pages[0].suspects
    )
    for other in others:
        await other.stop()


async def test_useless_wake_ups_are_counted_and_come_ever_later(driver: Driver, seeds: Seeds, sql: Sql) -> None:
    await seeds.thread("a")
    for wakes, wait_s in enumerate([1, 2, 4, 8, 16, 30, 30], start=1):
        page = await look(driver)
        assert [suspect.wakes for suspect in page.suspects] == [wakes]
        await take(driver, page)
        assert await sql(HINTS) == [(wakes, page.now_us + wait_s * SECOND_US)]
        await sql(BACKOFF_IS_OVER)


async def test_progress_starts_the_count_again(driver: Driver, seeds: Seeds, sql: Sql) -> None:
    key = await seeds.thread("a")
    for _ in range(3):
        await take(driver, await look(driver))
        await sql(BACKOFF_IS_OVER)
    await seeds.submit(key, "second")
    assert [suspect.wakes for suspect in (await look(driver)).suspects] == [1]


async def test_an_urgent_look_before_the_backoff_is_over_is_not_counted_as_useless(
    driver: Driver, seeds: Seeds
) -> None:
    await seeds.thread("a")
    await take(driver, await look(driver))
    page = await look(driver, URGENT)
    assert [(suspect.wakes, suspect.counted) for suspect in page.suspects] == [(1, False)]
    assert len(await take(driver, page)) == 1


async def test_an_urgent_look_finds_turns_that_wait_and_will_not_for_long(driver: Driver, seeds: Seeds) -> None:
    """Whoever would be told that the wait is over may be the worker that died."""
    await driver.hold_presence("w-1", {}, lease_s=60)
    for name, wait_s in (("soon", 5), ("later", 50)):
        await wait_for_the_model(seeds, name, wait_s)
    assert await found(driver) == []
    assert await found(driver, URGENT) == ["soon"]


async def test_a_wake_up_that_could_not_be_given_is_as_if_never_taken(driver: Driver, seeds: Seeds) -> None:
    await seeds.thread("a")
    taken = await take(driver, await look(driver))
    await driver.write(partial(put_back, taken))
    assert [suspect.wakes for suspect in (await look(driver)).suspects] == [1]


async def test_forgotten_hints_make_everything_due(driver: Driver, seeds: Seeds) -> None:
    await seeds.thread("a")
    await take(driver, await look(driver))
    await driver.write(forget_hints)
    assert await found(driver) == ["a"]


async def test_hints_of_threads_without_work_are_dropped(
    driver: Driver, journal: Journal, seeds: Seeds, sql: Sql
) -> None:
    idle = await seeds.thread("idle")
    await seeds.thread("busy")
    await take(driver, await look(driver))
    await accept(journal, idle, PauseTurn(request_id="p", turn_id=turn_id(idle, "first")))
    await driver.write(partial(prune_hints, 10))
    assert len(await sql(HINTS)) == 1


async def test_a_thread_that_cannot_be_read_hides_no_other(driver: Driver, seeds: Seeds, sql: Sql) -> None:
    broken = await seeds.thread("broken")
    await seeds.thread("fine")
    await sql("UPDATE threads SET control = $1 WHERE thread = 'broken'", b"{")
    page = await look(driver)
    assert [suspect.key.thread for suspect in page.suspects] == ["fine"]
    assert [thread.key for thread in page.broken] == [broken.canonical]
    await take(driver, page)
    assert (await look(driver)).broken == ()  # said again later, not each second


async def test_a_thread_with_turns_that_cannot_be_read_is_found_whatever_they_wait_for(
    driver: Driver, journal: Journal, seeds: Seeds, sql: Sql
) -> None:
    waits, behind = await seeds.started("waits"), await seeds.thread("behind")
    await driver.write(partial(ask, waits, None))
    await accept(journal, behind, PauseThread(request_id="p"))
    await seeds.thread("fine")
    await sql("UPDATE threads SET control = $1 WHERE thread = 'waits'", b"{")
    await sql("UPDATE threads SET seq = seq + 1 WHERE thread = 'behind'")
    assert (await look(driver)).broken == ()
    found = [case async for case in Recovery(journal, None, stall_s=60).find()]
    broken = {case.key: case.error for case in found if isinstance(case, Broken)}
    assert set(broken) == {waits.canonical, behind.canonical}
    assert "cannot be read" in broken[waits.canonical]
    assert "the control is at seq" in broken[behind.canonical]
    assert all("`turnwright journal rebuild --session" in error for error in broken.values())


async def test_a_question_whose_time_is_up_is_found_though_its_turn_waits(driver: Driver, seeds: Seeds) -> None:
    soon, never = await seeds.started("soon"), await seeds.started("never")
    for key, deadline_us in ((soon, 1), (never, None)):
        await driver.write(partial(ask, key, deadline_us))
    assert await found(driver) == []
    page = await driver.read(partial(find_expired, 10))
    assert [(suspect.key.thread, suspect.why) for suspect in page.suspects] == [("soon", "expired")]
    await Journal(driver).dispatch(soon)
    assert (await driver.read(partial(find_expired, 10))).suspects == ()


async def test_recovery_finds_each_question_whose_time_is_up_whatever_hints_say(
    driver: Driver, journal: Journal, seeds: Seeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "PAGE_THREADS_MAX", 2)
    names = [f"t{n}" for n in range(3)]
    for name in names:
        await driver.write(partial(ask, await seeds.started(name), 1))
    await take(driver, await driver.read(partial(find_expired, 10)))
    assert (await driver.read(partial(find_expired, 10))).suspects == ()
    found = [case async for case in Recovery(journal, None, stall_s=60).find()]
    assert [case.suspect.key.thread for case in found if isinstance(case, Case)] == names
