"""What was said is found by its words, on both stores alike, by who may and as long as it is there."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.journal.conftest import Played, Sql, Stored
from turnwright.journal.commands import CancelSession, CreateSession, DeleteSession, EraseEntry
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Text, Thinking
from turnwright.journal.search.query import parse_query
from turnwright.journal.search.words import words_of
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_search import forget_index, index_pieces, search
from turnwright.journal.store_verify import rebuild, statistics, verify
from turnwright.journal.transact import indexing, searching
from turnwright.journal.transact.listing import ANONYMOUS, Page
from turnwright.journal.transact.searching import SearchFilter, SearchHit

ANN, BOB, EVE = (
    ThreadKey(tenant, user, "agent", "s") for tenant, user in (("t", "ann"), ("t", "bob"), ("other", "ann"))
)
NOBODY = ThreadKey("t", None, "agent", "s")


async def found(
    journal: Journal,
    text: str,
    after: str | None = None,
    limit: int = 20,
    **whose: Any,  # noqa: ANN401 - a filter's
) -> Page[SearchHit]:
    page = await search(journal, SearchFilter(**{"tenant": "t", "text": text} | whose), after, limit)
    assert page is not None
    return page


async def texts(journal: Journal, text: str, **whose: Any) -> list[str]:  # noqa: ANN401 - as `found`
    return [hit.text for hit in (await found(journal, text, **whose)).items]


async def findings(journal: Journal) -> list[tuple[str, int | None]]:
    return [(finding.check, finding.seq) async for proof in verify(journal) for finding in proof.findings]


@pytest.fixture
async def talk(played: Played) -> AsyncIterator[Played]:
    """The same words of several people, and an answer."""
    for key in (ANN, BOB, EVE, NOBODY):
        await played.journal.execute(key.session_key, CreateSession(request_id="create", title=f"Züge of {key.user}"))
    turn = await played.submit("a train to Köln, please", ANN)
    epoch = await played.claim(turn, ANN)
    await played.ask(turn, epoch, ANN)
    await played.answer(turn, epoch, Thinking(text="a bus train"), Text(text="The train to Köln leaves at 9."), key=ANN)
    await played.submit("train times", BOB)
    await played.submit("train secrets", EVE)
    await played.submit("train for nobody", NOBODY)
    yield played
    assert await findings(played.journal) == []


async def test_a_hit_says_where_it_is_and_shows_why_it_was_found(talk: Played) -> None:
    [asked, answer] = (await found(talk.journal, "koln TRAIN", user="+ann")).items
    assert [(hit.key, hit.role) for hit in (asked, answer)] == [(ANN, "user"), (ANN, "assistant")]
    assert answer.turn_id == asked.turn_id
    [entry] = await talk.journal.entries(ANN, answer.seq - 1, 1)
    assert (entry.type, entry.at_us) == ("model.responded", answer.at_us)
    assert [part.text for part in answer.snippet if part.found] == ["train", "Köln"]
    assert 0 < answer.rank <= 1


async def test_nobody_finds_what_others_said(talk: Played) -> None:
    journal = talk.journal
    assert await texts(journal, "train", user="+bob") == ["train times"]
    assert await texts(journal, "train", user=ANONYMOUS) == ["train for nobody"]
    assert await texts(journal, "train", user="+-") == []
    assert await texts(journal, "train", tenant="other") == ["train secrets"]
    assert len(await texts(journal, "train")) == 4
    assert await texts(journal, "train", session=BOB.session_key) == ["train times"]
    assert await search(journal, SearchFilter("t", "train", SessionKey("t", "ann", "none"))) is None
    assert await texts(journal, "secrets") == await texts(journal, "secrets", user="+ann") == []


async def test_titles_are_found_and_thoughts_are_not(talk: Played) -> None:
    [title] = (await found(talk.journal, "zuge", user="+ann")).items
    assert (title.role, title.key, title.text) == ("title", ANN.session_key.log, "Züge of ann")
    assert await texts(talk.journal, "bus") == []


async def test_words_phrases_beginnings_and_what_must_not_occur(talk: Played) -> None:
    journal = talk.journal
    assert len(await texts(journal, '"train to koln"')) == 2
    assert await texts(journal, '"koln to train"') == []
    assert await texts(journal, "tr* -koln -nobody") == ["train times"]
    assert await texts(journal, 'train -"to koln" -nob*') == ["train times"]
    assert len(await texts(journal, '"train t"*')) == 3
    assert await texts(journal, "rain") == []


async def test_pages_hold_each_hit_once_whatever_is_said_meanwhile(talk: Played) -> None:
    journal, after, seen = talk.journal, None, []
    for n in range(3):
        page = await found(journal, "train", after, 2)
        seen += [(hit.key, hit.seq) for hit in page.items]
        await talk.submit(f"train train train {n}", BOB)
        after = page.next
        if after is None:
            break
    assert len(seen) == len(set(seen)) == 4
    for place in ("x", "1.2", "1.2.3.4", "-1.2.3", "1.2." + "9" * 40):
        with pytest.raises(InvalidInput, match="no place in a search"):
            await found(journal, "train", place)


async def test_the_best_come_first_and_of_equals_the_newest(played: Played) -> None:
    for text in ("tea", "tea and a lot of other things to drink", "tea tea", "tea!"):
        await played.submit(text)
    assert await texts(played.journal, "tea") == ["tea tea", "tea!", "tea", "tea and a lot of other things to drink"]


async def test_of_a_common_word_the_newest_are_ranked(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "RANKED_TEXTS_MAX", 2)
    for text in ("tea tea", "tea 1", "tea 2"):
        await played.submit(text)
    assert await texts(played.journal, "tea") == ["tea 2", "tea 1"]


async def test_an_erased_entry_is_not_found_and_nothing_keeps_its_words(
    talk: Played, stored: Stored, journal_url: str
) -> None:
    journal = talk.journal
    for key, seq, word in ((ANN, 1, "please"), (ANN.session_key.log, 1, "zuge")):
        assert len(await texts(journal, word, user="+ann")) == 1
        await talk.execute(key, EraseEntry(request_id="erase", principal="p", seq=seq))
        assert await texts(journal, word, user="+ann") == []
    assert await stored("please") <= {"requests"}
    if journal_url.startswith("sqlite"):
        files = b"".join(path.read_bytes() for path in _files(journal_url))
        assert b"please" not in files


async def test_a_deleted_session_is_not_found_and_its_texts_are_counted(talk: Played, sql: Sql, stored: Stored) -> None:
    journal = talk.journal
    await talk.journal.execute(BOB.session_key, CreateSession(request_id="x"))
    await _end_turns(talk)
    deleted = await delete_session(journal, BOB.session_key, DeleteSession(request_id="d", principal="p"))
    assert deleted.receipt.status == "accepted", deleted.receipt
    assert deleted.stores["journal"]["texts"] == 2
    assert await texts(journal, "train", user="+bob") == []
    assert "train times" not in await texts(journal, "train")
    assert not await stored("times")


async def test_what_was_there_before_is_found_once_it_is_indexed_in_pieces(
    talk: Played, driver: Driver, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = talk.journal
    before = await found(journal, "train", limit=100)
    await _as_of_before(sql)
    assert await texts(journal, "train") == []
    assert (await statistics(journal)).counts["threads_to_index"] == 8
    await talk.submit("a new train", BOB)
    assert await texts(journal, "train") == ["a new train"]
    assert await findings(journal) == []
    monkeypatch.setattr(indexing, "ENTRIES_INDEXED_MAX", 2)
    pieces, after = 0, 0
    while (step := await index_pieces(driver, after, 1))[0]:
        pieces, after = pieces + step[0], step[1]
    assert pieces > 8
    assert (await statistics(journal)).counts["threads_to_index"] == 0
    again = await found(journal, "train -new", limit=100)
    assert {(hit.key, hit.seq, hit.rank) for hit in again.items} == {
        (hit.key, hit.seq, hit.rank) for hit in before.items
    }
    assert len(await texts(journal, "new train")) == 1


async def test_what_an_older_worker_appends_is_indexed_later(talk: Played, driver: Driver, sql: Sql) -> None:
    await sql("DELETE FROM texts WHERE thread_id IN (SELECT id FROM threads WHERE key LIKE '%bob%' AND agent <> '')")
    await sql("UPDATE threads SET searched_seq = seq - 1 WHERE key LIKE '%bob%' AND agent <> ''")
    assert await texts(talk.journal, "train", user="+bob") == []
    assert await index_pieces(driver, 0, 10) == (1, 0)
    assert await texts(talk.journal, "train", user="+bob") == ["train times"]


async def test_all_can_be_indexed_anew_and_is_found_meanwhile(talk: Played, driver: Driver) -> None:
    await forget_index(driver)
    assert len(await texts(talk.journal, "train")) == 4
    done, after = await index_pieces(driver, 0, 100)
    assert (done, after) == (8, 0)
    assert len(await texts(talk.journal, "train")) == 4


async def test_verify_notices_words_that_are_missing_and_rebuild_restores_them(talk: Played, sql: Sql) -> None:
    await sql("DELETE FROM texts WHERE words LIKE '% koln %' AND words LIKE '% please %'")
    assert await findings(talk.journal) == [("search", 1)]
    assert [rebuilt.kept async for rebuilt in rebuild(talk.journal) if rebuilt.kept] == []
    assert len(await texts(talk.journal, "please")) == 1


async def test_whatever_is_typed_gives_hits_or_is_refused(talk: Played) -> None:
    for typed in (
        '"*:^ AND NEAR(',
        "a' & !b | c",
        "owners : x",
        "{a b} : c",
        "\\ '",
        "a\x00b",
        "col:*",
        "'' :*",
        "+a -+b",
    ):
        await _ask(talk.journal, typed)
    examples: list[str] = []

    @settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
    @given(st.text(max_size=30) | st.text(alphabet="\"'*:^()&|!-+\\ aé日", max_size=30))
    def collect(typed: str) -> None:
        examples.append(typed)

    collect()
    for typed in examples:
        await _ask(talk.journal, typed)


async def test_a_text_of_any_script_is_found_by_any_of_its_words(played: Played) -> None:
    said = "Ünïcode ﬁne 東京タワー ไทย हिन्दी 한국어 x² ½ İstanbul שָׁלוֹם"
    await played.submit(said)
    for word in {*words_of(said), '"東京"', "タワー", "हिन्दी", "한*", "ไทย"}:
        assert await texts(played.journal, word) == [said], word
    assert await texts(played.journal, "京東") == []


async def _ask(journal: Journal, typed: str) -> None:
    try:
        await found(journal, typed)
    except InvalidInput:
        with pytest.raises(InvalidInput, match="no word"):
            parse_query(typed)


async def _end_turns(talk: Played) -> None:
    await talk.execute(BOB.session_key, CancelSession(request_id="cancel"))


async def _as_of_before(sql: Sql) -> None:
    """As a migration leaves a journal of before."""
    await sql("DELETE FROM texts")
    await sql("UPDATE threads SET searched_seq = 0")


def _files(journal_url: str) -> list[Path]:
    path = Path(journal_url.removeprefix("sqlite:///"))
    return [each for each in path.parent.glob(path.name + "*") if each.is_file()]
