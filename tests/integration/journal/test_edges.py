"""What is large or strange comes out as it went in, or repaired visibly."""

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal.commands import CreateSession, Steer, Submit
from turnwright.journal.entries import TurnQueued
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Text, ToolCall, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify

LARGE_BYTES = 40 * 1024 * 1024
BLOB_BYTES_MIN = 64 * 1024


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def test_a_message_of_40_mb_is_kept_whole_beside_its_entry(journal: Journal, played: Played, sql: Sql) -> None:
    text = "a€" * (LARGE_BYTES // 4)
    await played.submit(text)
    [entry] = await journal.entries(KEY)
    assert isinstance(entry.payload, TurnQueued)
    assert entry.payload.input.text == text
    [(size,)] = await sql("SELECT size FROM blobs")
    assert size > LARGE_BYTES
    assert (await Journal(journal.driver).state(KEY)).inbox[0].message.text == text
    assert await proven(journal)


@pytest.mark.parametrize("extra", [-1_000, 0, 1_000])
async def test_around_the_size_from_which_on_a_body_stands_apart_nothing_differs(
    journal: Journal, played: Played, extra: int
) -> None:
    text = "x" * (BLOB_BYTES_MIN + extra)
    await played.submit(text)
    assert (await journal.state(KEY)).inbox[0].message.text == text
    assert await proven(journal)


async def test_the_same_large_content_is_kept_once_in_a_session_and_apart_in_another(
    journal: Journal, played: Played, sql: Sql
) -> None:
    text = "x" * (2 * BLOB_BYTES_MIN)
    for session, threads in (("s", ("one", "two")), ("other", ("one",))):
        for thread in threads:
            await played.submit(text, ThreadKey("t", None, "agent", session, thread))
    assert await sql("SELECT count(*) FROM blobs") == [(2,)]


async def test_what_no_store_can_hold_is_repaired_visibly_in_every_command_and_answer(
    journal: Journal, played: Played
) -> None:
    turn = await played.submit("first")
    await played.execute(KEY, Steer(request_id="s", turn_id=turn, message=user("nul \x00 half \ud83d", why="\udc00")))
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    call = ToolCall(id="c", name="missing", arguments={"a\x00": "\ud83d", "n": [float("nan"), 2**70]})
    await played.answer(turn, epoch, Text(text="\x00"), call)
    context = (await Journal(journal.driver).state(KEY)).context
    assert [message.text for message in context[:3]] == ["first", "nul ␀ half �", "␀"]
    assert context[1].metadata["why"] == "�"
    assert context[2].calls[0].arguments == {"a␀": "�", "n": ["nan", 2**70]}
    assert await proven(journal)


@pytest.mark.parametrize("part", ["\U0001f600" * 200, "a/b:c..%", "'; DROP TABLE entries; --", "~" * 200])
async def test_ids_of_200_characters_with_separators_and_emoji_are_exact(journal: Journal, part: str) -> None:
    key, beside = ThreadKey(part, part, part, part, part), ThreadKey(part, part, part, part, part[:-1] + "!")
    for one in (key, beside):
        await journal.execute(one.session_key, CreateSession(request_id=part))
        submit = Submit(request_id=part, turn_id=turn_id(one, part), input=user(one.thread[-1]))
        assert (await journal.execute(one, submit)).status == "accepted"
        assert (await journal.execute(one, submit)).duplicate
        assert [item.message.text for item in (await journal.state(one)).inbox] == [one.thread[-1]]
    located = await journal.timeline(key.session_key)
    assert [item.thread for item in located] == [key.session_key.log, key, beside]
    assert await proven(journal)


async def test_an_anonymous_user_is_no_user_of_that_name(journal: Journal, played: Played) -> None:
    for user_id in (None, "anonymous", "None", "null"):
        await played.submit(str(user_id), ThreadKey("t", user_id, "agent", "s"))
    assert len(await journal.timeline(SESSION)) == 2
    assert len(await journal.timeline(SessionKey("t", "anonymous", "s"))) == 2
