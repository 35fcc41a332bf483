"""A sealed journal: nothing that was said stands in it, everything can be read with its keys, and nothing without."""

import hashlib
from pathlib import Path

import asyncpg
import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql, Stored, key_line, opened
from tests.integration.journal.moving import IMAGE, SIDE, facts, lived_in, proven, take, written
from tests.integration.journal.sealed import IMAGE_SHA, SECRETS, in_clear
from tests.integration.journal.test_deltas import delta, hear, say, speaking
from tests.journals import place_of
from turnwright.client.opening import open_journal
from turnwright.journal import store_admin
from turnwright.journal.commands import CancelSession, DeleteSession, EraseEntry, Submit
from turnwright.journal.enlisted import take_in_first
from turnwright.journal.errors import InvalidInput, KeyMissing, StoreCorrupt
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Media, Text, user
from turnwright.journal.sealing.values import MARK
from turnwright.journal.store_delete import finish_deletions
from turnwright.journal.store_enlisting import enlist
from turnwright.journal.store_search import search
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.store_webhooks import create_webhook, list_webhooks
from turnwright.journal.transact.listing import TurnFilter
from turnwright.journal.transact.searching import SearchFilter
from turnwright.journal.transact.sweeping import find_unreadable
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.webhooks import WantedWebhook


async def test_nothing_that_was_said_stands_in_it_and_all_of_it_can_be_read(sealed: Played, stored: Stored) -> None:
    await lived_in(sealed)
    assert await in_clear(stored) == []
    assert await proven(sealed.journal) == []
    said = str(await facts(sealed.journal, SESSION))
    assert [secret for secret in SECRETS[:3:2] if secret not in said] == []
    assert await sealed.journal.blob(SESSION, IMAGE_SHA) == IMAGE
    assert "platypus" in (await sealed.journal.state(KEY)).model_dump_json()


async def test_without_keys_nothing_is_read_and_nothing_written(
    sealed: Played, played: Played, journal_url: str
) -> None:
    await lived_in(sealed)
    before = await facts(sealed.journal, SESSION)
    with pytest.raises(KeyMissing, match="add `keys=FILE`"):
        await open_journal(journal_url)
    for reading in (played.journal.state(KEY), played.journal.entries(KEY), played.journal.session(SESSION)):
        with pytest.raises(KeyMissing):
            await reading
    with pytest.raises(KeyMissing):
        await played.submit("in clear", ThreadKey("t", None, "agent", "s", "another"))
    assert await facts(sealed.journal, SESSION) == before
    assert await proven(sealed.journal) == []


async def test_what_cannot_be_opened_is_not_rebuilt_and_nobody_says_it_was_erased(
    sealed: Played, played: Played
) -> None:
    await sealed.submit("one")
    left = [rebuilt.kept async for rebuilt in rebuild(played.journal)]
    assert left
    assert [why for why in left if "erased" in why or "key" not in why] == []
    assert [rebuilt.kept async for rebuilt in rebuild(sealed.journal)] == [""] * len(left)
    assert await proven(sealed.journal) == []


async def test_with_its_data_key_a_sessions_content_is_erased_and_the_chain_is_proven(
    sealed: Played, sealed_url: str, sql: Sql
) -> None:
    await lived_in(sealed)
    entries = len(await facts(sealed.journal, SESSION))
    await sql("DELETE FROM data_keys")
    async with opened(sealed_url) as later:
        found = await proven(later.journal)
        [(whole,)] = await sql("SELECT count(*) FROM payloads WHERE body IS NOT NULL")
        assert whole == entries - 2, "what was erased one by one"
        assert len([one for one in found if one.startswith("erasure: ")]) == entries
        assert [one for one in found if one.startswith(("chain", "sequence", "position", "body", "blob"))] == []


async def test_a_deletion_destroys_the_data_key_before_anything_else(
    sealed: Played, sealed_url: str, sql: Sql, stored: Stored
) -> None:
    await lived_in(sealed)
    copy = await sql("SELECT thread_id, seq, salt, body, blob FROM payloads ORDER BY 1, 2")
    await sealed.execute(SESSION, CancelSession(request_id="cancel"))
    await sealed.journal.dispatch(SIDE)
    await sealed.execute(SESSION, DeleteSession(request_id="delete", principal="ann"))
    assert await sql("SELECT count(*) FROM data_keys") == [(0,)]
    assert await sql("SELECT count(*) FROM payloads WHERE body IS NOT NULL") != [(0,)]
    assert len(copy) > 5
    async with opened(sealed_url) as later:
        await finish_deletions(later.journal.driver, 100)
        assert await proven(later.journal) == []
    assert await sql("SELECT count(*) FROM payloads") == [(0,)]


async def test_an_entry_is_erased_and_the_file_that_another_one_names_stays(sealed: Played) -> None:
    image = Media(mime="image/png", blob=IMAGE_SHA)
    for text in ("one", "two"):
        turn = await sealed.submit(text)
        epoch = await sealed.claim(turn)
        await sealed.ask(turn, epoch)
        await sealed.answer(turn, epoch, Text(text=text), image, blobs={IMAGE_SHA: IMAGE})
    answers = [entry.seq for entry in await sealed.journal.entries(KEY) if entry.type == "model.responded"]
    await sealed.execute(KEY, EraseEntry(request_id="erase-1", seq=answers[0]))
    assert await sealed.journal.blob(SESSION, IMAGE_SHA) == IMAGE
    await sealed.execute(KEY, EraseEntry(request_id="erase-2", seq=answers[1]))
    assert await sealed.journal.blob(SESSION, IMAGE_SHA) is None
    assert await proven(sealed.journal) == []


async def test_what_was_changed_of_it_is_found(sealed: Played, sql: Sql) -> None:
    await lived_in(sealed)
    [(thread_id, seq, body)] = await sql(
        "SELECT thread_id, seq, body FROM payloads WHERE blob IS NULL AND body IS NOT NULL ORDER BY 1 DESC, 2 LIMIT 1"
    )
    changed = bytearray(body)
    changed[-1] ^= 1
    await sql("UPDATE payloads SET body = $3 WHERE thread_id = $1 AND seq = $2", thread_id, seq, bytes(changed))
    found = await proven(sealed.journal)
    assert [f" {seq} a sealed body is not as it was sealed" in one for one in found if one.startswith("body: ")] == [
        True
    ]


async def test_the_chain_is_proven_without_keys_and_what_was_changed_is_found_so(
    sealed: Played, played: Played, sql: Sql
) -> None:
    await lived_in(sealed)
    proofs = [proof async for proof in verify(played.journal)]
    assert [finding for proof in proofs for finding in proof.findings] == []
    assert sum(proof.sealed for proof in proofs) > 20
    await sql(
        "UPDATE payloads SET salt = prev FROM (SELECT salt AS prev FROM payloads WHERE seq = 2) AS p WHERE seq = 3"
    )
    found = {finding.check async for proof in verify(played.journal) for finding in proof.findings}
    assert found == {"chain"}


async def test_one_that_cannot_be_opened_hides_no_other(sealed: Played, sql: Sql) -> None:
    await sealed.submit("one", KEY)
    await sealed.submit("two", SIDE)
    other = ThreadKey("t", None, "agent", "another")
    await sealed.submit("three", other)
    [(body,)] = await sql("SELECT control FROM threads WHERE key = $1", KEY.canonical)
    await sql("UPDATE threads SET control = $1 WHERE key = $2", bytes(body)[:-1] + b"!", KEY.canonical)
    journal = sealed.journal
    page = await store_admin.list_threads(journal, SESSION)
    assert page is not None
    assert [(thread.key, not thread.unreadable) for thread in page.items] == [(KEY, False), (SIDE, True)]
    turns = await store_admin.list_turns(journal, TurnFilter(tenant="t"))
    assert turns is not None
    assert {turn.key: not turn.unreadable for turn in turns.items} == {KEY: False, SIDE: True, other: True}
    found = await journal.driver.read(lambda: find_unreadable(0, 100))
    assert [broken.key for broken in found.broken] == [KEY.canonical]


async def test_no_words_are_kept_so_a_search_is_refused(sealed: Played, sql: Sql) -> None:
    await sealed.submit("platypus")
    assert {words for (words,) in await sql("SELECT words FROM texts")} == {""}
    with pytest.raises(InvalidInput, match="no words of it are kept"):
        await search(sealed.journal, SearchFilter(tenant="t", text="platypus"))


async def test_words_of_running_calls_and_where_webhooks_go_are_sealed_too(sealed: Played, stored: Stored) -> None:
    turn, _ = await speaking(sealed)
    await say(sealed, 1, delta(turn, "heard by nobody else"))
    driver, wanted = sealed.journal.driver, WantedWebhook("https://hook.example/secret-path")
    made = await create_webhook(driver, SESSION, wanted, "ann", "hook")
    assert made is not None
    assert [delta.text for delta in (await hear(sealed)).deltas] == ["heard by nobody else"]
    listed = await list_webhooks(driver, SESSION)
    assert listed is not None
    assert [one.url for one in listed.items] == [wanted.url]
    again = await create_webhook(driver, SESSION, wanted, "ann", "hook")
    assert again is not None
    assert again.secret == made.secret
    assert not [text for text in ("heard by", "secret-path", made.secret) if await stored(text)]


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_what_a_caller_s_own_transaction_enlists_is_sealed_and_taken_in(
    sealed: Played, stored: Stored, journal_url: str
) -> None:
    await sealed.submit("one")
    command = Submit(request_id="two", turn_id=turn_id(KEY, "two"), input=user("of another transaction"))
    connection = await asyncpg.connect(place_of(journal_url)[0])
    try:
        for status in ("enlisted", "enlisted"):
            receipt = await enlist(sealed.journal, KEY, command, connection.fetch)
            assert receipt.status == status
    finally:
        await connection.close()
    assert not await stored("another transaction")
    await take_in_first(sealed.journal.driver, KEY, Terms())
    assert "of another transaction" in str(await facts(sealed.journal, SESSION))
    assert not await stored("another transaction")


async def test_a_thread_of_a_deleted_session_is_gone_for_whoever_comes_late(sealed: Played) -> None:
    await sealed.submit("one")
    await sealed.execute(SESSION, CancelSession(request_id="cancel"))
    await sealed.journal.dispatch(KEY)
    await sealed.execute(SESSION, DeleteSession(request_id="delete", principal="ann"))
    late = Submit(request_id="late", turn_id=turn_id(KEY, "late"), input=user("late"))
    receipt = await sealed.journal.execute(KEY, late)
    assert (receipt.status, receipt.code) == ("rejected", "unknown_session")
    assert (await sealed.journal.dispatch(KEY)).turn_id is None


async def test_a_thread_whose_data_key_is_lost_is_not_gone_but_damaged(
    sealed: Played, sealed_url: str, sql: Sql
) -> None:
    await sealed.submit("one")
    await sql("DELETE FROM data_keys")
    async with opened(sealed_url) as later:
        with pytest.raises(StoreCorrupt):
            await later.submit("two")


@pytest.mark.parametrize("content", [MARK, MARK + b"\x00", MARK + b"\x01" + bytes(60), MARK + b"\x02\x01a"])
async def test_a_file_that_looks_sealed_is_kept_as_it_is(played: Played, sealed: Played, content: bytes) -> None:
    sha = hashlib.sha256(content).hexdigest()
    for journal, text in ((played, "one"), (sealed, "two")):
        key = ThreadKey("t", None, "agent", text)
        turn = await journal.submit(text, key)
        epoch = await journal.claim(turn, key)
        await journal.ask(turn, epoch, key)
        await journal.answer(turn, epoch, Media(mime="image/png", blob=sha), key=key, blobs={sha: content})
        assert await journal.journal.blob(key.session_key, sha) == content
    assert await proven(sealed.journal) == []


async def test_a_session_moves_from_a_sealed_journal_to_one_with_another_key_and_to_one_without(
    sealed: Played, target_url: str, tmp_path: Path
) -> None:
    file = await written(await lived_in(sealed), tmp_path / "session")
    other = tmp_path / "other.keys"
    other.write_text(key_line("other", 3))
    before = await facts(sealed.journal, SESSION)
    async with opened(f"{target_url}{'&' if '?' in target_url else '?'}keys={other}") as there:
        await take(there, file)
        assert await proven(there.journal) == []
        assert (await facts(there.journal, SESSION))[: len(before)] == before
    async with opened(f"sqlite:///{tmp_path}/plain.db") as there:
        await take(there, file)
        assert await proven(there.journal) == []
        assert (await facts(there.journal, SESSION))[: len(before)] == before
