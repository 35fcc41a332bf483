"""What was erased is gone everywhere, and nothing else is."""

import asyncio
import hashlib
from functools import partial

import pytest

from tests.integration.journal.asking import asking
from tests.integration.journal.conftest import KEY, SESSION, HeldUp, Played, Sql, Stored
from turnwright.journal.commands import (
    CancelSession,
    CancelTurn,
    ChangeState,
    CreateSession,
    EraseEntry,
    FailModel,
    Look,
    Receipt,
    Respond,
    SetPermissions,
)
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.state_ops import EnterPlan, LeavePlan
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.commands import Undo
from turnwright.journal.transact.erasing import KEPT, erase_entry

LARGE = "secret " * 60_000
OTHER = ThreadKey("t", None, "agent", "s", "other")


async def erase(journal: Journal, seq: int, request_id: str = "erase", key: ThreadKey = KEY) -> Receipt:
    try:
        return await journal.driver.write(partial(erase_entry, key, EraseEntry(request_id=request_id, seq=seq)))
    except Undo as undone:
        return undone.receipt


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def test_a_state_that_was_read_before_holds_no_longer_what_was_erased(played: Played) -> None:
    journal = played.journal
    turn = await played.submit(LARGE)
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    before = await journal.state(KEY)
    assert LARGE in before.context[0].text
    assert (await erase(journal, 1)).status == "accepted"
    assert (await journal.state(KEY)).context == ()
    assert await journal.checkpoint(KEY, before) is False
    await played.answer(turn, epoch, Text(text=LARGE))
    after = await journal.state(KEY)
    assert [message.role for message in after.context] == ["assistant"]
    assert await journal.checkpoint(KEY, after) is True
    assert await Journal(journal.driver).state(KEY) == after


async def test_content_another_thread_is_just_keeping_stays(driver: Driver, played: Played, held_up: HeldUp) -> None:
    journal = played.journal
    await played.submit(LARGE)
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "insert_request" and not inside.is_set():
            inside.set()
            await go_on.wait()

    driver.hook = hook
    keeping = asyncio.ensure_future(played.submit(LARGE, OTHER))
    await inside.wait()
    erasing = asyncio.ensure_future(erase(journal, 1))
    await held_up(erasing)
    go_on.set()
    await asyncio.gather(keeping, erasing)
    [kept] = await journal.entries(OTHER)
    assert kept.payload.input.text == LARGE  # type: ignore[attr-defined]
    assert await proven(journal)


async def test_media_go_with_the_last_entry_that_names_them(played: Played, sql: Sql) -> None:
    bytes_ = {hashlib.sha256(content).hexdigest(): content for content in (b"one", b"two")}
    two = hashlib.sha256(b"two").hexdigest()
    turn = await played.submit("draw")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    blocks = [Media(mime="image/png", blob=sha) for sha in bytes_]
    answered = await played.answer(turn, epoch, *blocks, blobs=bytes_)
    second = await played.submit("again", OTHER)
    epoch = await played.claim(second, OTHER)
    await played.ask(second, epoch, OTHER)
    await played.answer(second, epoch, blocks[1], key=OTHER, blobs={two: b"two"})
    [responded] = [entry.seq for entry in answered.entries if entry.type == "model.responded"]
    await erase(played.journal, responded)
    assert await sql("SELECT sha256 FROM blobs") == [(two,)]
    assert await proven(played.journal)


async def test_the_title_of_a_session_can_be_erased_from_its_log(played: Played) -> None:
    journal = played.journal
    await played.execute(SESSION, CreateSession(request_id="create", title="Ann's divorce"))
    assert (await erase(journal, 1, key=SESSION.log)).status == "accepted"
    await played.submit("one")
    [created, _] = await journal.entries(SESSION.log)
    assert created.type == "session.created"
    session = await journal.session(SESSION)
    assert session is not None
    assert (session.control.seq, session.control.title) == (2, None)
    assert await proven(journal)


async def test_nothing_that_was_erased_stands_anywhere_else_nor_in_what_other_processes_have_read(
    played: Played, stored: Stored
) -> None:
    journal, other = played.journal, Journal(played.journal.driver)
    await played.execute(SESSION, CreateSession(request_id="create", title="secret title", reason="secret"))
    turn, question = await asking(played, "what anybody might want: secret")
    deny = {"message": "secret no"}
    denied = Respond(request_id="no", turn_id=turn, interaction_id=question, resolution="deny", answer=deny)
    await played.execute(KEY, denied)
    of = {"turn_id": turn, "epoch": 1}
    await played.ask(turn, 1, step=2)
    await played.run(KEY, FailModel(**of, step=2, ordinal=1, failure="invalid", message="secret refusal"))  # type: ignore[arg-type]
    await played.run(KEY, Look(**of))  # type: ignore[arg-type]
    cancelled = await played.submit("another piece of work: secret")
    await played.execute(KEY, CancelTurn(request_id="cancel", turn_id=cancelled, reason="secret reason"))
    await played.execute(SESSION, CancelSession(request_id="all", reason="secret end"))
    assert "secret" in str(await other.state(KEY))
    assert len(await stored("secret")) > 3
    for key in (KEY, SESSION.log):
        for entry in await journal.entries(key):
            if entry.type not in KEPT:
                assert (await erase(journal, entry.seq, f"erase {entry.seq}", key)).status == "accepted"
    assert await stored("secret") == set()
    assert "secret" not in str(await other.state(KEY))
    seen = await journal.turn(KEY, turn)
    assert seen is not None
    assert (seen.phase, seen.code, seen.message) == ("failed", "model_error", None)
    assert await proven(journal)


async def test_what_was_said_of_another_turn_in_the_same_words_stays(played: Played) -> None:
    turns = [await played.submit(name) for name in ("one", "two")]
    for turn in turns:
        await played.execute(KEY, CancelTurn(request_id=f"cancel {turn}", turn_id=turn, reason="too late"))
    [first, *_] = [e.seq for e in await played.journal.entries(KEY) if e.type == "turn.cancelled"]
    await erase(played.journal, first)
    seen = [await played.journal.turn(KEY, turn) for turn in turns]
    assert ["too late" in str(turn) for turn in seen] == [False, True]


async def test_an_erasure_is_a_request_like_any_other(played: Played) -> None:
    turn = await played.submit("one")
    await played.ask(turn, await played.claim(turn))
    assert (await erase(played.journal, 1, "one")).code == "request_id_reused"
    first = await erase(played.journal, 1)
    again = await erase(played.journal, 1)
    assert (again.duplicate, again.seq) == (True, first.seq)
    assert (await erase(played.journal, 3)).code == "request_id_reused"
    assert (await erase(played.journal, 99, "beyond")).code == "unknown_entry"
    assert (await erase(played.journal, 1, "nowhere", OTHER)).code == "unknown_thread"
    assert await proven(played.journal)


async def test_what_holds_is_erased_only_once_it_does_not_hold_any_more(played: Played) -> None:
    journal = played.journal
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="done"))
    change = PermissionChange(working_directories=("/srv",))
    permitted = await played.execute(KEY, SetPermissions(request_id="dirs", change=change))
    planned = await played.execute(KEY, ChangeState(request_id="plan", op=EnterPlan()))
    for n, seq in enumerate((permitted.seq, planned.seq)):
        assert (await erase(journal, seq, f"too soon {n}")).code == "not_erasable"
    await played.execute(KEY, ChangeState(request_id="leave", op=LeavePlan()))
    assert (await erase(journal, planned.seq)).status == "accepted"
    state, row = await journal.state(KEY), await journal.thread(KEY)
    assert row is not None
    assert (state.permissions, state.plan.active) == (row.control.permissions, row.control.planning)


@pytest.mark.parametrize("kind", ["thread.opened", "entry.erased", "input.applied"])
async def test_what_the_journal_cannot_do_without_is_not_erased(played: Played, kind: str) -> None:
    turn = await played.submit("one")
    await played.ask(turn, await played.claim(turn))
    await erase(played.journal, 1)
    [seq] = [entry.seq for entry in await played.journal.entries(KEY) if entry.type == kind]
    assert (await erase(played.journal, seq, "again")).code == "not_erasable"


async def test_a_task_is_erased_once_a_model_was_told_it_or_its_turn_is_over(played: Played) -> None:
    journal = played.journal
    turns = [await played.submit("one"), await played.submit("two")]
    epoch = await played.claim(turns[0])
    tasks = [entry.seq for entry in await journal.entries(KEY) if entry.type == "turn.queued"]
    for seq in tasks:
        assert (await erase(journal, seq, f"too soon {seq}")).code == "not_erasable"
    await played.ask(turns[0], epoch)
    await played.execute(KEY, CancelTurn(request_id="cancel", turn_id=turns[1]))
    for seq in tasks:
        assert (await erase(journal, seq, f"now {seq}")).status == "accepted"
    assert (await journal.state(KEY)).inbox == ()
    assert await proven(journal)
