"""Lists of turns, among so many others that none may be found by walking over them."""

from dataclasses import replace

import pytest

from tests.integration.journal.asking import asking
from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal import store_admin
from turnwright.journal.commands import CancelTurn, EraseEntry, PauseSession, PauseTurn, ResumeSession
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.statements import migrations
from turnwright.journal.transact.listing import ANONYMOUS, LOOKED_ROWS_MAX, Page, TurnFilter, TurnSeen
from turnwright.journal.transact.statistics import live_numbers
from turnwright.journal.transact.turn_inputs import INPUT_CHARACTERS_MAX

MANY = 3 * LOOKED_ROWS_MAX
ANNS = ThreadKey("t", "ann", "clerk", "s")
# Like a turn that is there, but that they have ended: the newest and the oldest failed.
ENDED = f"""
    INSERT INTO turns (
        turn_id, thread_id, session_id, tenant, queue_order, phase, pause, body, queued_seq, session_seq, created_us,
        updated_us, agent, owner
    )
    SELECT 't-' || n, thread_id, session_id, tenant, queue_order,
        CASE WHEN n IN (1, {MANY}) THEN 'failed' ELSE 'completed' END,
        pause, body, queued_seq, session_seq, created_us - n, updated_us, agent, owner
    FROM turns, (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {MANY}) SELECT n FROM c) AS c
    WHERE turn_id = $1
"""


@pytest.fixture
async def queued(played: Played, sql: Sql) -> str:
    """The only turn of the tenant that has not ended, and the newest."""
    turn = await played.submit("one")
    await sql(ENDED, turn)
    return turn


async def listed(played: Played, wanted: TurnFilter, after: str | None = None, limit: int = 50) -> Page[TurnSeen]:
    page = await store_admin.list_turns(played.journal, wanted, after, limit)
    assert page is not None
    return page


async def test_the_few_in_a_phase_are_found_at_once_among_many_in_others(played: Played, queued: str) -> None:
    page = await listed(played, TurnFilter("t", shown="queued"))
    assert ([seen.status.turn_id for seen in page.items], page.next) == ([queued], None)
    page = await listed(played, TurnFilter("t", phases=("failed",)))
    assert (len(page.items), page.next) == (2, None)
    assert (await listed(played, TurnFilter("t", phases=("cancelled", "waiting")))) == Page(())


async def test_a_turn_in_a_list_says_how_its_input_begins(played: Played) -> None:
    long = await played.submit("Book a train\nto Graz. " + "word " * 99)
    erased = await played.submit("My number is 5544.")
    await played.execute(KEY, CancelTurn(request_id="cancel", turn_id=erased))
    status = await played.journal.turn(KEY, erased)
    assert status is not None
    await played.execute(KEY, EraseEntry(request_id="erase", seq=status.queued_seq))
    shown = {seen.status.turn_id: seen.input for seen in (await listed(played, TurnFilter("t"))).items}
    assert shown[long].startswith("Book a train to Graz. word word")
    assert len(shown[long]) == INPUT_CHARACTERS_MAX
    assert shown[erased] == ""


async def test_a_page_of_sessions_is_summed_up_at_once(played: Played, driver: Driver) -> None:
    users = ("ann", "ben", None)
    for n, user in enumerate(users):
        for text in "abc"[: n + 1]:
            await played.submit(text, ThreadKey("t", user, "agent", "s", text))
    asked: list[str] = []
    driver.hook = asked.append
    page = await store_admin.list_sessions(played.journal, "t")
    driver.hook = None
    assert asked.count("session_totals") == 1
    assert [(one.key.user, one.threads, one.queued) for one in page.items] == [
        *((user, n + 1, n + 1) for n, user in reversed(list(enumerate(users)))),
    ]
    for one in page.items:
        assert await store_admin.see_session(played.journal, one.key) == one


async def test_turns_are_found_by_the_beginning_of_their_ids_among_one_user_s_only(played: Played) -> None:
    turns = {user: await played.submit("one", ThreadKey("t", user, "agent", "s")) for user in ("ann", "ben", None)}
    named = store_admin.find_turns_named
    for user, turn in turns.items():
        found = await named(played.journal, "t", "t-", 1, ANONYMOUS if user is None else f"+{user}")
        assert found == ((turn, ThreadKey("t", user, "agent", "s")),)
    assert {turn for turn, _ in await named(played.journal, "t", "t-")} == set(turns.values())


async def test_those_in_several_phases_come_in_one_order(played: Played, sql: Sql, queued: str) -> None:
    [(newest_us,)] = await sql("SELECT created_us FROM turns WHERE turn_id = $1", queued)
    wanted, places = TurnFilter("t", phases=("failed", "queued", "failed")), list[str]()
    page = await listed(played, wanted, limit=1)
    while page.next is not None:
        places.append(page.next)
        page = await listed(played, wanted, page.next, limit=1)
    assert places == [f"{newest_us}.{queued}", f"{newest_us - 1}.t-1", f"{newest_us - MANY}.t-{MANY}"]
    assert page == Page(())


OTHERS = (
    TurnFilter("t", user="+ann"),
    TurnFilter("t", user="+ann", phases=("queued", "completed")),
    TurnFilter("t", user="+ann", agent="clerk"),
    TurnFilter("t", agent="clerk"),
    TurnFilter("t", agent="clerk", shown="queued"),
)


@pytest.mark.usefixtures("queued")
async def test_one_users_and_one_agents_are_found_at_once_among_many_of_others(played: Played, sql: Sql) -> None:
    turn = await played.submit("two", ANNS)
    await sql("UPDATE turns SET created_us = 1 WHERE turn_id = $1", turn)
    for wanted in OTHERS:
        page = await listed(played, wanted)
        assert ([seen.status.turn_id for seen in page.items], page.next) == ([turn], None), wanted


@pytest.mark.usefixtures("queued")
async def test_what_older_code_wrote_is_looked_for_in_bounded_steps_and_found(played: Played, sql: Sql) -> None:
    turn = await played.submit("two", ANNS)
    await sql("UPDATE turns SET created_us = 1 WHERE turn_id = $1", turn)
    await sql("UPDATE turns SET agent = NULL, owner = NULL")
    for wanted in OTHERS:
        page = await listed(played, wanted)
        assert page.items == ()
        calls = 1
        while page.next is not None:
            page = await listed(played, wanted, page.next)
            calls += 1
        assert [seen.status.turn_id for seen in page.items] == [turn]
        assert calls > 1, "one call looks at no more than a part of them"


@pytest.mark.usefixtures("queued")
async def test_what_was_there_before_the_migration_is_found_at_once_after_it(
    played: Played, driver: Driver, sql: Sql
) -> None:
    turn = await played.submit("two", ANNS)
    await sql("UPDATE turns SET agent = NULL, owner = NULL")
    await sql("UPDATE turns SET created_us = 1 WHERE turn_id = $1", turn)
    [filling] = [one for step in migrations(driver.dialect) for one in step.sql.split(";") if "UPDATE turns" in one]
    await sql(filling)
    for wanted in OTHERS:
        page = await listed(played, wanted)
        assert ([seen.status.turn_id for seen in page.items], page.next) == ([turn], None), wanted


@pytest.mark.usefixtures("queued")
async def test_a_sessions_turns_are_found_by_phase_at_once_too(played: Played) -> None:
    page = await listed(played, TurnFilter("t", KEY.session_key, phases=("failed",)))
    assert (len(page.items), page.next) == (2, None)


async def test_a_turn_is_ready_only_while_nothing_keeps_it_from_beginning(played: Played) -> None:
    async def ready() -> int:
        [number] = [one for one in await played.journal.driver.read(live_numbers) if one.what == "ready"]
        return number.count

    assert await ready() == 0
    other = replace(KEY, thread="other")
    first, held = await played.submit("one"), await played.submit("two", other)
    assert await ready() == 2
    await played.execute(other, PauseTurn(request_id="hold", turn_id=held))
    assert await ready() == 1, "what is paused elsewhere hides no turn that could begin"
    await played.submit("behind it")
    assert await ready() == 1, "one behind another cannot"
    pause = await played.execute(SESSION, PauseSession(request_id="pause"))
    assert await ready() == 0
    await played.execute(SESSION, ResumeSession(request_id="resume", revision=pause.revision))
    assert await ready() == 1
    await played.claim(first)
    assert await ready() == 0


async def test_nothing_of_a_session_that_is_hidden_counts_as_live(played: Played, sql: Sql) -> None:
    await asking(played, "one")
    held = replace(KEY, thread="held")
    await played.execute(held, PauseTurn(request_id="hold", turn_id=await played.submit("two", held)))
    there = await played.journal.driver.read(live_numbers)
    assert {one.what for one in there if one.count} == {"turns", "paused", "questions"}
    await sql("UPDATE sessions SET deleted_at_us = 1")
    assert [one for one in await played.journal.driver.read(live_numbers) if one.count] == []
