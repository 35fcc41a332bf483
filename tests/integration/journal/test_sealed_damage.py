"""What is damaged in a sealed journal: it is said, it hides nothing else, and nothing makes it worse."""

from functools import partial
from pathlib import Path

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql, Stored, key_line, opened
from tests.integration.journal.moving import IMAGE, SIDE, proven
from tests.integration.journal.sealed import IMAGE_SHA
from tests.integration.journal.test_deltas import delta, speaking
from turnwright.journal import store_admin, store_sealing
from turnwright.journal.commands import DeleteSession, EraseEntry, Submit
from turnwright.journal.errors import KeyMissing, StoreCorrupt
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Media, Text, user
from turnwright.journal.sealing.values import MARK, TEXT_MARK
from turnwright.journal.store_delete import finish_deletions
from turnwright.journal.store_webhooks import create_webhook, list_webhooks
from turnwright.journal.transact.sealing import seal_control
from turnwright.journal.transact.webhooks import find_due
from turnwright.journal.webhooks import WantedWebhook

OTHER = ThreadKey("t", None, "agent", "another")
ANYWHERE = WantedWebhook("https://hook.example/path", after=0)
CUT_OFF = (MARK, MARK + b"\x01", MARK + b"\x02", MARK + b"\x02\x05first", MARK + b"\x09kind of a later version")


async def damaged(sql: Sql, table: str, column: str, where: str = "1 = 1") -> None:
    """Change the last byte of what stands in the one row."""
    [(body,)] = await sql(f"SELECT {column} FROM {table} WHERE {where}")
    await sql(f"UPDATE {table} SET {column} = $1 WHERE {where}", bytes(body)[:-1] + bytes([body[-1] ^ 1]))


async def finished(played: Played, text: str, key: ThreadKey = KEY) -> None:
    turn = await played.submit(text, key)
    epoch = await played.claim(turn, key)
    await played.ask(turn, epoch, key)
    await played.answer(turn, epoch, Text(text="done"), key=key)


async def test_an_entry_whose_file_is_damaged_is_erased_and_the_chain_is_as_it_was(sealed: Played, sql: Sql) -> None:
    await finished(sealed, "large " * 60_000)
    await damaged(sql, "blobs", "body")
    assert [one.partition(":")[0] for one in await proven(sealed.journal)] == ["blob", "search"]
    await sealed.execute(KEY, EraseEntry(request_id="erase", seq=1))
    assert await proven(sealed.journal) == []


async def test_sealing_leaves_what_is_damaged_as_it_is(played: Played, sealed: Played, sql: Sql) -> None:
    await played.submit("before there were keys")
    await sealed.submit("after")
    await sealed.submit("large " * 60_000, SIDE)
    await damaged(sql, "payloads", "body", "seq = 2")
    before = await proven(sealed.journal)
    assert {one.partition(":")[0] for one in before} == {"body", "search"}
    assert len([one async for one in store_sealing.seal(sealed.journal)]) == 1
    assert [one for one in await proven(sealed.journal) if not one.startswith("search")] == [
        one for one in before if not one.startswith("search")
    ]


async def test_a_file_of_an_entry_is_erased_whatever_else_is_damaged(sealed: Played, sql: Sql) -> None:
    turn = await sealed.submit("one")
    epoch = await sealed.claim(turn)
    await sealed.ask(turn, epoch)
    await sealed.answer(turn, epoch, Media(mime="image/png", blob=IMAGE_SHA), blobs={IMAGE_SHA: IMAGE})
    await sealed.submit("two", SIDE)
    side = f"thread_id = (SELECT id FROM threads WHERE key = '{SIDE.canonical}') AND seq = 1"
    await damaged(sql, "payloads", "body", side)
    [answer] = [entry.seq for entry in await sealed.journal.entries(KEY) if entry.type == "model.responded"]
    await sealed.execute(KEY, EraseEntry(request_id="erase", seq=answer))
    assert await sealed.journal.blob(SESSION, IMAGE_SHA) is None


async def test_a_damaged_control_is_said_to_be_one_also_after_sealing(played: Played, sealed: Played, sql: Sql) -> None:
    await played.submit("before there were keys")
    await sealed.submit("after")
    await damaged(sql, "threads", "control", f"key = '{KEY.canonical}'")
    assert len([one async for one in store_sealing.seal(sealed.journal)]) == 1
    with pytest.raises(StoreCorrupt, match="a sealed control is not as it was sealed"):
        await sealed.submit("one more")


@pytest.mark.parametrize("rest", CUT_OFF)
async def test_what_is_left_of_a_control_hides_no_other(sealed: Played, sql: Sql, rest: bytes) -> None:
    await sealed.submit("one")
    await sealed.submit("two", SIDE)
    await sql("UPDATE threads SET control = $1 WHERE key = $2", rest, KEY.canonical)
    page = await store_admin.list_threads(sealed.journal, SESSION)
    assert page is not None
    assert {thread.key: not thread.unreadable for thread in page.items} == {KEY: False, SIDE: True}


@pytest.mark.parametrize("rest", [TEXT_MARK, f"{TEXT_MARK}cut", f"{TEXT_MARK}APUC", f"{TEXT_MARK}APUA/w=="])
async def test_what_is_left_of_an_address_is_said_to_be_damaged(sealed: Played, sql: Sql, rest: str) -> None:
    await sealed.submit("one")
    await create_webhook(sealed.journal.driver, SESSION, ANYWHERE, "ann", "hook")
    await sql("UPDATE webhooks SET url = $1", rest)
    with pytest.raises(StoreCorrupt, match="a sealed url is not as it was sealed"):
        await list_webhooks(sealed.journal.driver, SESSION)


async def test_a_webhook_that_cannot_be_opened_keeps_no_other_waiting(sealed: Played, sql: Sql) -> None:
    driver = sealed.journal.driver
    for key in (KEY, OTHER):
        await finished(sealed, "task", key)
        await create_webhook(driver, key.session_key, ANYWHERE, "ann", "hook")
    session = "(SELECT session_id FROM threads WHERE key = $2)"
    await sql(f"UPDATE webhooks SET url = $1 WHERE session_id = {session}", f"{TEXT_MARK}cut", KEY.canonical)
    for limit in (1, 100):
        due, after = [], ""
        while True:
            page = await driver.read(partial(find_due, after, limit))
            due += [one.session for one in page.webhooks]
            if not (after := page.after):
                break
        assert due == [OTHER.session_key]


async def test_nothing_is_delivered_to_what_is_left_of_a_deleted_session(sealed: Played) -> None:
    driver = sealed.journal.driver
    await finished(sealed, "task")
    await create_webhook(driver, SESSION, ANYWHERE, "ann", "hook")
    assert len((await driver.read(partial(find_due, "", 100))).webhooks) == 1
    await sealed.execute(SESSION, DeleteSession(request_id="delete", principal="ann"))
    assert (await driver.read(partial(find_due, "", 100))).webhooks == ()


async def test_words_that_come_after_a_deletion_leave_no_data_key_behind(sealed: Played, sql: Sql) -> None:
    turn, epoch = await speaking(sealed)
    row = await sealed.journal.thread(KEY)
    assert row is not None
    await sealed.answer(turn, epoch, Text(text="done"))
    await sealed.execute(SESSION, DeleteSession(request_id="delete", principal="ann"))
    await sealed.journal.deltas.add(KEY, row.id, 1, [delta(turn, "late")])
    await finish_deletions(sealed.journal.driver, 100)
    assert await sql("SELECT count(*) FROM data_keys") == [(0,)]
    assert await proven(sealed.journal) == []


async def test_one_session_that_cannot_be_sealed_keeps_no_other_from_it(
    played: Played, sealed: Played, sql: Sql, stored: Stored
) -> None:
    await played.submit("large " * 60_000)
    await played.submit("two", OTHER)
    await played.submit("that platypus is in no request", ThreadKey("t", None, "agent", "third"))
    turn = await sealed.submit("three", OTHER)
    await damaged(sql, "turns", "body", f"turn_id = '{turn}'")
    done = {one.key: one.kept for one in [one async for one in store_sealing.seal(sealed.journal)]}
    assert [key for key, kept in done.items() if kept] == [OTHER.session_key]
    assert len(done) == 3
    assert not await stored("is in no request")


async def test_one_data_key_that_cannot_be_unwrapped_keeps_no_other_from_being_wrapped(
    sealed: Played, sealed_url: str, keys: Path, sql: Sql
) -> None:
    for key in (KEY, OTHER):
        await sealed.submit("task", key)
    first = "session_id = (SELECT min(session_id) FROM data_keys)"
    await sql(f"UPDATE data_keys SET wrapped_by = 'lost' WHERE {first}")
    keys.write_text(f"{key_line('second', 2)}\n{key_line('first', 1)}\n")
    async with opened(sealed_url) as rotated:
        with pytest.raises(KeyMissing, match="'lost'"):
            await store_sealing.wrap_anew(rotated.journal.driver)
        assert await store_sealing.keys_in_use(rotated.journal.driver) == {"lost": 1, "second": 1}


async def test_who_has_no_keys_writes_nothing_to_a_session_that_is_sealed_or_is_being_sealed(
    played: Played, sealed: Played, stored: Stored
) -> None:
    await played.submit("before there were keys")
    await sealed.journal.driver.write(partial(seal_control, SESSION))
    late = Submit(request_id="late", turn_id=turn_id(KEY, "late"), input=user("in clear"))
    for writing in (
        played.journal.execute(KEY, late),
        create_webhook(played.journal.driver, SESSION, ANYWHERE, "ann", "hook"),
    ):
        with pytest.raises(KeyMissing, match="add `keys=FILE`"):
            await writing
    assert not await stored("in clear")
    assert not await stored("hook.example")
