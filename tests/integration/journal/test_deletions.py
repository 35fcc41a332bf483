"""A deleted session is gone everywhere, whatever cut the deletion off; only who did it and why stays."""

import asyncio
import hashlib
from functools import partial

import pytest

from tests.integration.journal.asking import asking, budget
from tests.integration.journal.conftest import KEY, SESSION, Owned, Played, Sql, Stored
from turnwright.journal import store_admin
from turnwright.journal.commands import (
    CancelSession,
    ClaimRun,
    CreateSchedule,
    CreateSession,
    DeleteSession,
    ForkThread,
    PauseThread,
    SetTitle,
    Submit,
)
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Media, Text, user
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session, finish_deletions, read_tombstone
from turnwright.journal.store_search import search
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact import deleting
from turnwright.journal.transact.checkpoints import save_checkpoint
from turnwright.journal.transact.inbox import InboxFilter
from turnwright.journal.transact.listing import TurnFilter
from turnwright.journal.transact.runs import ThreadGone
from turnwright.journal.transact.searching import SearchFilter
from turnwright.journal.transact.sweeping import Suspect
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.sweeper import Sweeper, SweepSettings

OTHER = ThreadKey("t", None, "agent", "kept")
SIDE = ThreadKey("t", None, "agent", "s", "side")
DELETE = DeleteSession(request_id="delete", principal="ann", reason="asked for by the customer")
TABLES = (
    "threads", "entries", "payloads", "blobs", "turns", "requests", "interactions", "checkpoints", "deadlines",
    "hints", "spent", "counters", "inbox",
)  # fmt: skip


class Cut(Exception):
    """Stands for a crash."""


async def proven(played: Played) -> bool:
    return not [finding async for proof in verify(played.journal) for finding in proof.findings]


async def sizes(sql: Sql) -> dict[str, int]:
    return {table: (await sql(f"SELECT count(*) FROM {table}"))[0][0] for table in TABLES}


@pytest.fixture
async def full(played: Played) -> Played:
    """A session with everything a session can have and no turn left, beside another one."""
    image = b"an image"
    await played.submit("kept", OTHER)
    turn = await played.submit("secret " * 60_000)
    await budget(played, "budget", tokens=1_000_000)
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    media = Media(mime="image/png", blob=hashlib.sha256(image).hexdigest())
    await played.answer(turn, epoch, Text(text="done"), media, blobs={str(media.blob): image})
    await played.journal.checkpoint(KEY, await played.journal.state(KEY))
    await asking(played, "two", SIDE)
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    await played.journal.dispatch(SIDE)
    return played


async def test_nothing_of_a_deleted_session_is_left_but_its_key_and_who_deleted_it(full: Played, sql: Sql) -> None:
    journal, turn = full.journal, turn_id(SIDE, "two")
    [(kept,)] = await sql("SELECT id FROM sessions WHERE session = 'kept'")
    before = await sizes(sql)
    deleted = await delete_session(journal, SESSION, DELETE)
    assert deleted.receipt.status == "accepted"
    counts = deleted.stores["journal"]
    after = await sizes(sql)
    assert {name: counts[name] for name in ("threads", "blobs", "checkpoints", "turns", "questions")} == {
        "threads": 2, "blobs": before["blobs"], "checkpoints": 1, "turns": 2, "questions": 1,
    }  # fmt: skip
    assert counts["entries"] == before["entries"] - after["entries"]
    assert await sql("SELECT DISTINCT session_id FROM threads") == [(kept,)]
    assert await sql("SELECT session_id FROM counters") == [(kept,)]
    assert (after["spent"], after["blobs"], after["checkpoints"], after["interactions"]) == (0, 0, 0, 0)
    tombstone = await read_tombstone(journal, SESSION)
    assert tombstone is not None
    assert (tombstone.principal, tombstone.reason) == (DELETE.principal, DELETE.reason)
    assert tombstone.erased_us is not None
    assert await journal.thread_of(turn) is None
    assert await store_admin.find_turns_named(journal, "t", turn) == ()
    assert await proven(full)
    [entry, *_] = await journal.entries(OTHER)
    assert entry.type == "turn.queued"


async def test_whatever_a_session_may_have_goes_with_it(full: Played, sql: Sql, stored: Stored, owned: Owned) -> None:
    """Also what has a table that is not named here yet."""
    journal = full.journal
    definition = Definition(name="secret", agent="agent", input="secret news", times=Times(every_s=60))  # type: ignore[arg-type]
    await full.execute(SESSION, CreateSchedule(request_id="schedule", definition=definition))
    await full.execute(SESSION, SetTitle(request_id="title", title="a secret title"))
    await full.execute(KEY, ForkThread(request_id="fork", thread="forked"))
    [(session_id,)] = await sql("SELECT id FROM sessions WHERE session = 's'")
    threads = [row[0] for row in await sql(f"SELECT id FROM threads WHERE session_id = {session_id}")]
    had = await owned(session_id, threads)
    assert {"threads", "entries", "texts", "schedules", "bases", "blobs", "interactions", "checkpoints"} <= had
    assert await stored("secret")
    assert await is_found(journal)
    await delete_session(journal, SESSION, DELETE)
    assert await stored("secret") == set()
    # A schedule's row, without what it held, waits until Temporal's own is ended.
    assert await owned(session_id, threads) == {"tombstones", "schedules"}
    assert not await is_found(journal)
    assert await proven(full)


async def is_found(journal: Journal) -> bool:
    page = await search(journal, SearchFilter("t", "secret"))
    return page is not None and bool(page.items)


async def unfindable(played: Played) -> None:
    journal, turn = played.journal, turn_id(SIDE, "two")
    assert await journal.entries(SIDE) == []
    assert await journal.timeline(SESSION) == []
    assert await journal.turn(SIDE, turn) is None
    assert await journal.thread_of(turn) is None
    assert await journal.thread(KEY) is None
    assert (await journal.state(KEY)).as_of_seq == 0
    assert await store_admin.see_turn(journal, SIDE, turn) is None
    assert await store_admin.see_session(journal, SESSION) is None
    assert await store_admin.list_threads(journal, SESSION) is None
    page = await store_admin.list_turns(journal, TurnFilter("t"))
    assert page is not None
    assert [item.key for item in page.items] == [OTHER]
    assert [item.key.session for item in (await store_admin.list_sessions(journal, "t")).items] == ["kept"]
    found = await store_admin.read_inbox(journal, InboxFilter("t", state="any"))
    assert found is not None
    assert found.items == ()
    assert not await is_found(journal)
    with pytest.raises(ThreadGone):
        await journal.run(SIDE, ClaimRun(turn_id=turn, run="late", start_epoch=1))
    assert (await journal.dispatch(SIDE)).turn_id is None
    await again(played)
    assert [rebuilt.where async for rebuilt in rebuild(journal) if "kept" not in rebuilt.where] == []
    assert await proven(played)


async def again(played: Played) -> None:
    """Nobody brings the session back."""
    journal = played.journal
    submit = Submit(request_id="late", turn_id=turn_id(KEY, "late"), input=user("late"))
    assert (await journal.execute(KEY, submit)).code == "unknown_session"
    assert (await journal.execute(KEY, PauseThread(request_id="late"))).code == "unknown_session"
    assert (await journal.execute(SESSION, CreateSession(request_id="late"))).code == "session_deleted"
    assert (await journal.execute(SESSION, CancelSession(request_id="late"))).status == "rejected"


async def test_after_the_tombstone_nothing_is_found_whatever_is_left(full: Played) -> None:
    state = await full.journal.state(KEY)
    assert (await full.journal.execute(SESSION, DELETE)).status == "accepted"
    await unfindable(full)
    assert await full.journal.driver.write(partial(save_checkpoint, KEY, state)) is False
    await delete_session(full.journal, SESSION, DELETE)
    await unfindable(full)


async def test_a_session_with_turns_is_not_deleted(played: Played) -> None:
    await played.submit("one")
    await played.claim(await played.submit("two", SIDE), SIDE)
    await played.submit("three", SIDE)
    refused = (await delete_session(played.journal, SESSION, DELETE)).receipt
    assert refused.code == "busy"
    assert "3 turns of 2 threads" in (refused.reason or "")
    assert len(await played.journal.entries(SIDE)) > 0
    nobody = await delete_session(played.journal, SessionKey("t", None, "no"), DELETE)
    assert nobody.receipt.code == "unknown_session"


async def test_a_session_that_was_cancelled_is_deleted_though_nobody_has_carried_that_out(
    played: Played, stored: Stored
) -> None:
    await asking(played, "waiting", SIDE)
    for name in ("queued", "queued behind"):
        await played.submit(name)
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    assert (await delete_session(played.journal, SESSION, DELETE)).receipt.status == "accepted"
    assert await stored("queued") == await stored("waiting") == set()
    await again(played)
    assert await proven(played)


async def test_a_call_that_runs_ends_before_its_cancelled_session_is_deleted(played: Played) -> None:
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    assert (await delete_session(played.journal, SESSION, DELETE)).receipt.code == "busy"
    await played.answer(turn, epoch, Text(text="too late"))
    assert (await delete_session(played.journal, SESSION, DELETE)).receipt.status == "accepted"
    assert await proven(played)


async def test_a_deletion_is_repeated_and_its_end_is_final(full: Played) -> None:
    other = DeleteSession(request_id="again", principal="bob")
    await full.journal.execute(SESSION, DELETE)
    finished = await delete_session(full.journal, SESSION, other)
    assert (finished.receipt.status, finished.receipt.duplicate) == ("accepted", True)
    repeated = await delete_session(full.journal, SESSION, DELETE)
    assert (repeated.receipt.duplicate, repeated.stores) == (True, finished.stores)
    assert (await delete_session(full.journal, SESSION, other)).receipt.code == "session_deleted"
    used = DeleteSession(request_id="create")
    await full.journal.execute(OTHER.session_key, CancelSession(request_id="cancel"))
    await full.journal.dispatch(OTHER)
    assert (await delete_session(full.journal, OTHER.session_key, used)).receipt.code == "request_id_reused"


async def is_cut(played: Played, driver: Driver, after: int) -> bool:
    """Delete, and end as in a crash before the commit of that number, if there are so many."""
    commits = 0

    def cut(point: str) -> None:
        nonlocal commits
        commits += point == "commit"
        if commits == after:
            raise Cut

    driver.hook = cut
    try:
        await delete_session(played.journal, SESSION, DELETE)
    except Cut:
        return True
    finally:
        driver.hook = None
    return False


async def test_wherever_a_deletion_is_cut_off_somebody_finishes_it(
    full: Played, driver: Driver, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleting, "ROWS_ERASED_MAX", 3)
    monkeypatch.setattr(deleting, "BLOBS_ERASED_MAX", 1)
    entries = (await sizes(sql))["entries"]
    assert await finish_deletions(driver, 1) == 0
    cuts = finished = 0
    while await is_cut(full, driver, after=cuts + 2):
        cuts += 1
        await unfindable(full)
        finished += await finish_deletions(driver, 1)
    assert finished > 2
    assert cuts > 3
    assert await finish_deletions(driver, 10) == 0
    tombstone = await read_tombstone(full.journal, SESSION)
    assert tombstone is not None
    assert tombstone.counts["entries"] == entries - (await sizes(sql))["entries"]
    await unfindable(full)


class Nobody:
    """A rouser that is never needed."""

    async def rouse(self, suspect: Suspect) -> None:
        raise AssertionError(suspect)


async def test_the_leading_sweeper_finishes_what_was_cut_off(played: Played, driver: Driver) -> None:
    await played.execute(SESSION, CreateSession(request_id="create"))
    await played.execute(SESSION, DELETE)
    sweeper = Sweeper(driver, Nobody(), Terms, SweepSettings(interval_s=0.05))
    await sweeper.start()
    try:
        async with asyncio.timeout(30):
            while not await is_erased(played):
                await asyncio.sleep(0.01)
    finally:
        await sweeper.stop()


async def is_erased(played: Played) -> bool:
    tombstone = await read_tombstone(played.journal, SESSION)
    return tombstone is not None and tombstone.erased_us is not None
