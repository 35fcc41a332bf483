"""The table of questions follows the entries, and the inbox reads it."""

from functools import partial

import pytest

from tests.integration.journal.asking import asking
from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal import store_admin
from turnwright.journal.commands import CancelTurn, EraseEntry, PauseThread, Respond
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild, statistics, verify
from turnwright.journal.transact.erasing import erase_entry
from turnwright.journal.transact.inbox import InboxFilter, Question

OTHER = ThreadKey("t", "ann", "helper", "s", "side")
ALL = InboxFilter("t")


def answer(turn: str, question: str, request_id: str = "yes", resolution: str = "approve") -> Respond:
    return Respond(request_id=request_id, principal="ann", turn_id=turn, interaction_id=question, resolution=resolution)


async def inbox(journal: Journal, wanted: InboxFilter = ALL) -> list[Question]:
    page = await store_admin.read_inbox(journal, wanted)
    assert page is not None
    return list(page.items)


async def findings(journal: Journal) -> list[tuple[str, str]]:
    return [
        (finding.check, finding.problem) for proof in [p async for p in verify(journal)] for finding in proof.findings
    ]


async def test_an_open_question_is_in_the_inbox_until_it_is_answered(played: Played) -> None:
    turn, question = await asking(played, "one")
    [item] = await inbox(played.journal)
    assert (item.key, item.turn_id, item.row.interaction_id, item.row.tool) == (KEY, turn, question, "write")
    assert item.asked is not None
    assert item.asked.asked["arguments"] == {"text": "one"}
    assert (await statistics(played.journal)).counts["questions_open"] == 1
    await played.execute(KEY, answer(turn, question))
    assert await inbox(played.journal) == []
    [item] = await inbox(played.journal, InboxFilter("t", state="resolved"))
    assert (item.row.resolution, item.row.principal, item.row.settled_seq is not None) == ("approve", "ann", True)
    assert await findings(played.journal) == []


async def test_an_answer_to_a_question_that_is_not_open_is_told_why(played: Played) -> None:
    turn, question = await asking(played, "one")
    nobody = await played.journal.execute(KEY, answer(turn, "q-nobody-asked"))
    assert nobody.code == "unknown_interaction"
    await played.execute(KEY, answer(turn, question))
    late = await played.journal.execute(KEY, answer(turn, question, "no", "deny"))
    assert late.code == "already_answered"
    assert "ann" in (late.reason or "")


async def test_a_question_is_closed_with_its_turn(played: Played) -> None:
    turn, question = await asking(played, "one")
    await played.execute(KEY, CancelTurn(request_id="cancel", turn_id=turn))
    found = await store_admin.find_interaction(played.journal, "t", question)
    assert found is not None
    assert (found.state, found.key, found.turn_id) == ("cancelled", KEY, turn)
    assert await findings(played.journal) == []


async def test_a_question_is_found_by_its_tenant_only(played: Played) -> None:
    _, question = await asking(played, "one")
    assert await store_admin.find_interaction(played.journal, "another", question) is None
    assert await store_admin.find_interaction(played.journal, "t", "q-none") is None
    assert await inbox(played.journal, InboxFilter("another")) == []


async def test_what_was_asked_and_erased_is_gone_and_the_question_is_not(played: Played) -> None:
    turn, question = await asking(played, "one")
    [item] = await inbox(played.journal)
    erase = EraseEntry(request_id="erase", seq=item.row.asked_seq)
    assert (await played.journal.driver.write(partial(erase_entry, KEY, erase))).status == "accepted"
    [item] = await inbox(played.journal)
    assert (item.asked, item.large) == (None, False)
    found = await store_admin.find_interaction(played.journal, "t", question)
    assert found is not None
    assert found.asked is None
    await played.execute(KEY, answer(turn, question))


async def test_a_large_question_is_only_named_in_the_list(played: Played) -> None:
    _, question = await asking(played, "large " * 20_000)
    [item] = await inbox(played.journal)
    assert (item.asked, item.large) == (None, True)
    found = await store_admin.find_interaction(played.journal, "t", question)
    assert found is not None
    assert found.asked is not None


async def test_the_inbox_is_filtered_and_paged_oldest_first(played: Played) -> None:
    questions = [(await asking(played, "one"))[1], (await asking(played, "two", OTHER, "send"))[1]]
    third = ThreadKey("t", None, "agent", "another")
    questions.append((await asking(played, "three", third))[1])
    wanted = {
        "agent": ([1], InboxFilter("t", agent="helper")),
        "thread": ([0, 2], InboxFilter("t", thread="main")),
        "tool": ([1], InboxFilter("t", tool="send")),
        "kind": ([], InboxFilter("t", kind="budget")),
        "user": ([1], InboxFilter("t", user="+ann")),
        "nobody": ([0, 2], InboxFilter("t", user="-")),
        "session": ([0], InboxFilter("t", session=SESSION)),
        "any": ([0, 1, 2], InboxFilter("t", state="any")),
        "expired": ([], InboxFilter("t", state="expired")),
        "session any": ([2], InboxFilter("t", session=third.session_key, state="any")),
    }
    for name, (expected, filter_) in wanted.items():
        found = [item.row.interaction_id for item in await inbox(played.journal, filter_)]
        assert found == [questions[n] for n in expected], name
    assert await store_admin.read_inbox(played.journal, InboxFilter("t", session=SessionKey("t", None, "no"))) is None
    seen, after = list[str](), None
    while True:
        page = await store_admin.read_inbox(played.journal, ALL, after, 1)
        assert page is not None
        seen += [item.row.interaction_id for item in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == questions
    with pytest.raises(InvalidInput, match="no place in a list"):
        await store_admin.read_inbox(played.journal, ALL, "here")


async def test_a_row_that_differs_is_found_and_written_anew(played: Played, sql: Sql) -> None:
    await asking(played, "one")
    await asking(played, "two", OTHER)
    await sql("UPDATE interactions SET state = 'expired' WHERE tenant = 't' AND tool = 'write'")
    assert {check for check, _ in await findings(played.journal)} == {"question"}
    await sql("DELETE FROM interactions")
    assert len(await findings(played.journal)) == 2
    assert not [rebuilt.kept async for rebuilt in rebuild(played.journal) if rebuilt.kept]
    assert await findings(played.journal) == []
    assert len(await inbox(played.journal)) == 2


async def test_the_questions_of_an_older_version_s_thread_appear_when_it_is_used(played: Played, sql: Sql) -> None:
    turn, question = await asking(played, "one")
    await sql("DELETE FROM interactions")
    await sql("UPDATE threads SET reducer_version = 1")
    assert await findings(played.journal) == []
    assert await inbox(played.journal) == []
    await played.execute(KEY, PauseThread(request_id="pause"))
    [item] = await inbox(played.journal)
    assert (item.turn_id, item.row.interaction_id) == (turn, question)
    assert await findings(played.journal) == []
