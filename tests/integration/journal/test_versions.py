"""What another version of the reducer folded: an older one's is folded anew, a newer one's is left alone."""

from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal import store_admin
from turnwright.journal.commands import CancelSession, EraseEntry, PauseSession, PauseTurn, ResumeSession
from turnwright.journal.control import REDUCER_VERSION
from turnwright.journal.errors import NewerReducer
from turnwright.journal.messages import Text
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.erasing import erase_entry
from turnwright.journal.transact.listing import TurnFilter
from turnwright.journal.transact.sweeping import Glance, find_stalled
from turnwright.journal.transact.thread_script import Terms

OLD = b'{"words":"of an older version"}'


async def grow_old(sql: Sql) -> None:
    """As if everything that is folded had been written by the version before."""
    await sql("UPDATE threads SET control = $1, reducer_version = $2, queued = 7, active_turn = NULL", OLD, 0)
    await sql("UPDATE sessions SET control = $1, reducer_version = $2", OLD, 0)


async def findings(played: Played) -> list[object]:
    return [finding async for proof in verify(played.journal) for finding in proof.findings]


@pytest.fixture
async def turns(played: Played) -> tuple[str, str]:
    """One turn that asks its model, and one behind it, in a session that was paused once."""
    first, second = await played.submit("one"), await played.submit("two")
    await played.execute(SESSION, PauseSession(request_id="pause"))
    await played.execute(SESSION, ResumeSession(request_id="resume", revision=1))
    await played.ask(first, await played.claim(first))
    return first, second


async def test_an_older_version_s_thread_is_rebuilt_before_it_is_changed(
    played: Played, sql: Sql, turns: tuple[str, str]
) -> None:
    before = await played.journal.thread(KEY)
    await grow_old(sql)
    await sql("UPDATE turns SET body = $1 WHERE turn_id = $2", OLD, turns[1])
    await played.execute(KEY, PauseTurn(request_id="pause", turn_id=turns[1]))
    after = await played.journal.thread(KEY)
    assert before is not None
    assert after is not None
    assert after.control == before.control.model_copy(update={"seq": before.seq + 1})
    assert await sql("SELECT reducer_version, queued, active_turn FROM threads WHERE agent <> ''") == [
        (REDUCER_VERSION, 1, turns[0])
    ]
    outcome = await played.answer(turns[0], 1, Text(text="done"))
    assert [entry.type for entry in outcome.entries][-1] == "turn.completed"
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    assert await findings(played) == []


async def test_an_older_version_s_controls_are_read_as_the_entries_say(
    played: Played, sql: Sql, turns: tuple[str, str]
) -> None:
    journal, wanted = played.journal, TurnFilter("t")
    before = (
        await journal.thread(KEY),
        await journal.session(SESSION),
        await store_admin.list_turns(journal, wanted),
        await store_admin.list_threads(journal, SESSION),
        await store_admin.see_turn(journal, KEY, turns[1]),
    )
    await grow_old(sql)
    thread = await journal.thread(KEY)
    assert thread is not None
    assert before[0] is not None
    assert thread.control == before[0].control
    session = await journal.session(SESSION)
    assert session is not None
    assert before[1] is not None
    assert (session.reducer_version, session.control) == (0, before[1].control)
    assert await store_admin.list_turns(journal, wanted) == before[2]
    assert await store_admin.list_threads(journal, SESSION) == before[3]
    seen = await store_admin.see_turn(journal, KEY, turns[1])
    assert seen is not None
    assert before[4] is not None
    assert (seen.control, seen.session, seen.status) == (before[4].control, before[4].session, before[4].status)


async def test_a_sweeper_finds_an_older_version_s_thread_whatever_its_control_says(
    played: Played, sql: Sql, turns: tuple[str, str]
) -> None:
    glance = Glance(stall_us=0, limit=10)
    look = partial(find_stalled, 0, glance, Terms(presence="worker"))
    assert (await played.journal.driver.read(look)).suspects == ()  # a living worker asks the model
    await grow_old(sql)
    page = await played.journal.driver.read(look)
    assert [suspect.key for suspect in page.suspects] == [KEY]
    assert page.broken == ()


async def test_a_thread_whose_content_was_erased_keeps_what_is_stored(
    played: Played, sql: Sql, turns: tuple[str, str]
) -> None:
    erase = EraseEntry(request_id="erase", seq=1)
    await played.journal.driver.write(partial(erase_entry, KEY, erase))
    before = await played.journal.thread(KEY)
    await sql("UPDATE threads SET reducer_version = 0")
    after = await played.journal.thread(KEY)
    assert before is not None
    assert after is not None
    assert after.control == before.control
    await played.execute(KEY, PauseTurn(request_id="pause", turn_id=turns[1]))
    [(version,)] = await sql("SELECT reducer_version FROM threads WHERE agent <> ''")
    assert version == REDUCER_VERSION


async def test_a_newer_version_s_thread_is_read_and_not_written(
    played: Played, sql: Sql, turns: tuple[str, str]
) -> None:
    state, entries = await played.journal.state(KEY), await played.journal.entries(KEY)
    await sql("UPDATE threads SET control = $1, reducer_version = $2", OLD, REDUCER_VERSION + 1)
    with pytest.raises(NewerReducer, match="upgrade it"):
        await played.journal.execute(KEY, PauseTurn(request_id="pause", turn_id=turns[1]))
    with pytest.raises(NewerReducer):
        await played.journal.dispatch(KEY)
    assert await played.journal.entries(KEY) == entries
    assert await played.journal.state(KEY) == state
    assert await sql("SELECT seq, control FROM threads WHERE agent <> ''") == [(len(entries), OLD)]
