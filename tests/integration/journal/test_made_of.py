"""What was made of a thread is erased with what it was made of, wherever it stands."""

from __future__ import annotations

from tests.integration.journal.conftest import KEY, SESSION, Played, Stored
from turnwright.journal import store_search
from turnwright.journal.commands import DescribeSession, EraseEntry, PauseThread, SetTitle
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.transact.searching import SearchFilter


async def describe(played: Played, number: int, through_seq: int, summary: str) -> None:
    made_of = MadeOf(agent=KEY.agent, thread=KEY.thread, through_seq=through_seq)
    command = DescribeSession(
        request_id=f"describe-{number}", made_of=made_of, title="Xylophones" if number == 1 else "", summary=summary
    )
    await played.execute(SESSION, command)


async def test_a_title_and_a_summary_are_erased_with_an_entry_that_they_were_made_of(
    played: Played, stored: Stored
) -> None:
    turn = await played.submit("loud in the evenings: xylophones")
    await played.ask(turn, await played.claim(turn))
    row = await played.journal.thread(KEY)
    assert row is not None
    await describe(played, 1, through_seq=row.seq, summary="About xylophones.")
    await played.submit("bicycles are not")
    assert await stored("xylophones")
    found = await store_search.search(played.journal, SearchFilter("t", "xylophones"))
    assert found is not None
    assert {hit.role for hit in found.items} == {"title", "user"}
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1, reason="asked to"))
    session = await played.journal.session(SESSION)
    assert session is not None
    assert (session.control.title, session.control.summary) == (None, "")
    assert await stored("xylophones") == await stored("Xylophones") == set()
    log = await played.journal.entries(SESSION.log)
    assert [entry.type for entry in log].count("entry.erased") == 2


async def test_what_a_person_said_or_what_was_made_before_the_entry_stays(played: Played) -> None:
    await played.submit("loud in the evenings: xylophones")
    row = await played.journal.thread(KEY)
    assert row is not None
    await played.execute(SESSION, SetTitle(request_id="title", title="Mine"))
    await describe(played, 2, through_seq=row.seq, summary="About xylophones.")
    paused = await played.execute(KEY, PauseThread(request_id="pause", reason="it is late"))
    await played.execute(KEY, EraseEntry(request_id="erase", seq=paused.seq))
    session = await played.journal.session(SESSION)
    assert session is not None
    assert (session.control.title, session.control.summary) == ("Mine", "About xylophones.")
