"""Media refer to bytes that are with the session, or do not get into the journal."""

import hashlib

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played
from turnwright.journal.commands import CreateSession, EraseEntry, Inject, Steer, Submit, UpdateState
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput, StoreCorrupt
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import Media, Message, Text
from turnwright.journal.store_verify import verify

PNG = b"png"
STORED, NOWHERE = hashlib.sha256(PNG).hexdigest(), "f" * 64


def picture(blob: str) -> Message:
    return Message(role="user", blocks=(Text(text="Look:"), Media(mime="image/png", blob=blob)))


async def test_a_message_with_a_file_that_is_nowhere_is_refused_and_nothing_is_written(played: Played) -> None:
    turn = await played.submit("first")
    before = await played.journal.entries(KEY)
    commands = (
        Submit(request_id="r", turn_id=turn_id(KEY, "r"), input=picture(NOWHERE)),
        Steer(request_id="r", turn_id=turn, message=picture(NOWHERE)),
        *(Inject(request_id="r", message=picture(nowhere)) for nowhere in (NOWHERE, "F" * 64, "\x00", "")),
    )
    for command in commands:
        with pytest.raises(InvalidInput, match="no bytes stored as blob"):
            await played.journal.execute(KEY, command)
    assert await played.journal.entries(KEY) == before


async def test_the_first_message_of_a_thread_with_a_file_that_is_nowhere_leaves_no_thread(played: Played) -> None:
    await played.journal.execute(SESSION, CreateSession(request_id="create"))
    with pytest.raises(InvalidInput, match=NOWHERE):
        await played.journal.execute(KEY, Inject(request_id="r", message=picture(NOWHERE)))
    assert await played.journal.thread(KEY) is None


async def test_a_report_brings_its_files_and_whoever_comes_later_may_refer_to_them(played: Played) -> None:
    turn = await played.submit("first")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    file = Media(mime="image/png", blob=STORED)
    with pytest.raises(InvalidInput, match=STORED):
        await played.answer(turn, epoch, file)
    await played.answer(turn, epoch, file, blobs={STORED: PNG})
    await played.execute(KEY, Inject(request_id="r", message=picture(STORED)))
    assert await played.journal.blobs(SESSION, [STORED]) == {STORED: PNG}
    assert [finding async for proof in verify(played.journal) for finding in proof.findings] == []


async def test_an_erasure_of_many_files_looks_once_for_who_else_names_them(played: Played) -> None:
    turn = await played.submit("first")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    pictures = {hashlib.sha256(what).hexdigest(): what for what in (PNG, b"second", b"third")}
    outcome = await played.answer(
        turn, epoch, *(Media(mime="image/png", blob=blob) for blob in pictures), blobs=pictures
    )
    [answer] = [entry for entry in outcome.entries if entry.type == "model.responded"]
    await played.execute(KEY, Inject(request_id="r", message=picture(STORED)))
    points: list[str] = []
    played.journal.driver.hook = points.append
    await played.execute(KEY, EraseEntry(request_id="erase", seq=answer.seq))
    played.journal.driver.hook = None
    assert [point for point in " ".join(points).split() if "read_session" in point] == ["read_session"]
    assert await played.journal.blobs(SESSION, [STORED]) == {STORED: PNG}
    for gone in pictures.keys() - {STORED}:
        with pytest.raises(StoreCorrupt, match=gone):
            await played.journal.blobs(SESSION, [gone])


async def test_a_context_that_an_operator_writes_refers_to_files_that_are_there_too(played: Played) -> None:
    turn = await played.submit("first")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Media(mime="image/png", blob=STORED), blobs={STORED: PNG})
    seq = (await played.journal.state(KEY)).as_of_seq

    def written(blob: str) -> UpdateState:
        context = [picture(blob).model_dump(mode="json")]
        return UpdateState(request_id="r", reason="mended", expected_seq=seq, changes={"context": context})

    with pytest.raises(InvalidInput, match=NOWHERE):
        await played.journal.execute(KEY, written(NOWHERE))
    await played.execute(KEY, written(STORED))
    assert [finding async for proof in verify(played.journal) for finding in proof.findings] == []


async def test_what_has_no_file_asks_nothing_about_files(driver: Driver, played: Played) -> None:
    asked: list[str] = []

    async def hook(point: str) -> None:
        asked.append(point)

    driver.hook = hook
    await played.submit("first")
    assert "find_request" in asked
    assert "stored_blobs" not in asked
