"""What was made of a thread is erased with what it was made of, wherever it stands and however far it has come."""

from __future__ import annotations

import asyncio

import pytest

from tests.integration.journal.conftest import KEY, SESSION, HeldUp, Played, Stored
from tests.integration.journal.forking import fork, head, said
from turnwright.journal import store_search
from turnwright.journal.commands import CreateSession, DescribeSession, EraseEntry, MakeWhole, PauseThread, SetTitle
from turnwright.journal.driver import Driver
from turnwright.journal.entries import EntryErased
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.store_verify import verify
from turnwright.journal.transact import made_of
from turnwright.journal.transact.searching import SearchFilter

ELSEWHERE = SessionKey("t", None, "elsewhere")
THIRD = SessionKey("t", None, "third")


async def begun(played: Played, number: int, through_seq: int, summary: str, key: ThreadKey = KEY) -> DescribeSession:
    """A description that a model was asked for just now."""
    session = await played.journal.session(key.session_key)
    assert session is not None
    return DescribeSession(
        request_id=f"describe-{number}",
        made_of=MadeOf(agent=key.agent, thread=key.thread, through_seq=through_seq),
        log_seq=session.control.seq,
        title="Xylophones" if number == 1 else "",
        summary=summary,
    )


async def describe(played: Played, number: int, through_seq: int, summary: str, key: ThreadKey = KEY) -> None:
    await played.execute(key.session_key, await begun(played, number, through_seq, summary, key))


async def shown(played: Played, key: SessionKey = SESSION) -> tuple[str | None, str]:
    session = await played.journal.session(key)
    assert session is not None
    return session.control.title, session.control.summary


async def findings(played: Played) -> list[str]:
    return [f"{f.where}: {f.problem}" async for proof in verify(played.journal) for f in proof.findings]


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
    assert await shown(played) == (None, "")
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
    assert await shown(played) == ("Mine", "About xylophones.")


async def test_what_is_made_while_its_entry_is_erased_is_not_kept(played: Played, stored: Stored) -> None:
    last = await said(played, "loud in the evenings: xylophones")
    made = await begun(played, 1, last, "About xylophones.")
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    assert (await played.journal.execute(SESSION, made)).code == "erased_meanwhile"
    assert await shown(played) == (None, "")
    assert await stored("xylophones") == await stored("Xylophones") == set()
    await describe(played, 3, await head(played.journal), "About nothing.")
    assert await shown(played) == (None, "About nothing.")


async def test_what_is_made_anew_of_a_summary_that_is_erased_meanwhile_is_not_kept(
    played: Played, stored: Stored
) -> None:
    """Its maker was told the last summary, and reads the thread as it is after the erasure."""
    last = await said(played, "loud in the evenings: xylophones")
    await describe(played, 2, last, "About xylophones.")
    made = await begun(played, 3, last + 9, "About xylophones and more.")
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    assert (await played.journal.execute(SESSION, made)).code == "erased_meanwhile"
    assert await stored("xylophones") == set()


async def test_no_transaction_of_an_erasure_grows_with_what_was_made_of_it(
    played: Played, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_of, "AT_ONCE_MAX", 3)
    first = await said(played, "bicycles")
    await describe(played, 2, first, "About bicycles.")
    last = await said(played, "loud in the evenings: xylophones")
    for number in range(3, 11):
        await describe(played, number, last + number, f"About xylophones {number}.")
    points: list[str] = []
    played.journal.driver.hook = points.append
    await played.execute(KEY, EraseEntry(request_id="erase", seq=first + 1, principal="ann", reason="asked to"))
    played.journal.driver.hook = None
    transactions = [one.split() for one in " ".join(points).split("begin")]
    erased = [count for one in transactions if (count := one.count("erase_payload"))]
    assert erased == [1, 2, 3, 3, 1], "the first was undone"
    assert await stored("xylophones") == set()
    assert await stored("bicycles") != set()
    told = [entry.payload for entry in await played.journal.entries(SESSION.log)]
    by_whom = [(one.principal, one.reason) for one in told if isinstance(one, EntryErased)]
    assert by_whom == [("ann", "asked to")] * 8
    assert await findings(played) == []


@pytest.mark.parametrize("first", ["describing", "erasing"])
async def test_whichever_comes_first_the_words_are_gone(
    played: Played, driver: Driver, stored: Stored, first: str, held_up: HeldUp
) -> None:
    last = await said(played, "loud in the evenings: xylophones")
    made = await begun(played, 1, last, "About xylophones.")
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "insert_request" and not inside.is_set():
            inside.set()
            await go_on.wait()

    both = {
        "describing": lambda: played.journal.execute(SESSION, made),
        "erasing": lambda: played.journal.execute(KEY, EraseEntry(request_id="erase", seq=1)),
    }
    driver.hook = hook
    begins = asyncio.ensure_future(both.pop(first)())
    await inside.wait()
    follows = asyncio.ensure_future(both.popitem()[1]())
    await held_up(follows)
    go_on.set()
    assert (await begins).status == "accepted"
    assert (await follows).code == (None if first == "describing" else "erased_meanwhile")
    assert await shown(played) == (None, "")
    assert await stored("xylophones") == await stored("Xylophones") == set()
    assert await findings(played) == []


@pytest.mark.parametrize("whole", [False, True], ids=["by reference", "whole"])
async def test_what_was_made_of_a_fork_elsewhere_goes_with_the_entry_of_its_origin(
    played: Played, stored: Stored, *, whole: bool
) -> None:
    await said(played, "loud in the evenings: xylophones")
    await played.execute(ELSEWHERE, CreateSession(request_id="elsewhere"))
    forked = await fork(played, name="fork", session="elsewhere")
    await played.execute(THIRD, CreateSession(request_id="third"))
    further = await fork(played, None, "further", forked, "third")
    if whole:
        await played.execute(forked, MakeWhole(request_id="w"))
    await describe(played, 1, await head(played.journal, forked), "About xylophones.", forked)
    made = await begun(played, 1, await head(played.journal, further), "More about xylophones.", further)
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1, principal="ann", reason="asked to"))
    assert await shown(played, ELSEWHERE) == (None, "")
    assert (await played.journal.execute(THIRD, made)).code == "erased_meanwhile"
    assert await stored("xylophones") == await stored("Xylophones") == set()
    log = [entry.payload for entry in await played.journal.entries(ELSEWHERE.log)]
    told = [(one.principal, one.reason) for one in log if isinstance(one, EntryErased)]
    assert told == [("ann", "asked to")] * 2
    assert await findings(played) == []
