"""States are brought to where snapshots are kept: all of them, never older ones, whatever is away or dies meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from tests.integration.journal.snapshotted import DEADLINE_S, Fragile, there, turn
from turnwright.journal import store_delete
from turnwright.journal.commands import DeleteSession, EraseEntry
from turnwright.journal.driver import Driver
from turnwright.journal.errors import SnapshotGone, StoreError, StoreUnavailable
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text
from turnwright.journal.snapshots.deciding import Kept
from turnwright.journal.snapshots.files import FileSnapshots
from turnwright.journal.snapshots.memory import MemorySnapshots
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.projecting import Projection, Proof
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session
from turnwright.journal.transact import snapshotting
from turnwright.journal.transact.rows import dump
from turnwright.worker import snapshots
from turnwright.worker.snapshots import Snapshots

DELETE = DeleteSession(request_id="delete", principal="ann")
on_one_store = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
Follow = Callable[[SnapshotStore], Awaitable[Snapshots]]


@pytest.fixture
async def follow(journal: Journal) -> AsyncIterator[Follow]:
    """Start a loop that brings states to a store."""
    async with AsyncExitStack() as stack:

        async def follow(store: SnapshotStore) -> Snapshots:
            loop = Snapshots(journal, store)
            stack.push_async_callback(loop.stop)
            await loop.start()
            return loop

        yield follow


async def proofs(journal: Journal, store: SnapshotStore) -> list[Proof]:
    return [proof async for proof in Projection(journal, store).verify()]


async def rebuild(journal: Journal, store: SnapshotStore) -> list[Proof]:
    return [proof async for proof in Projection(journal, store).rebuild()]


async def test_the_state_is_there_after_each_turn_and_a_rebuild_gives_the_same_bytes(
    played: Played, follow: Follow, tmp_path: Path
) -> None:
    store = FileSnapshots(tmp_path / "snapshots")
    await turn(played, "before anybody follows")
    await follow(store)
    await there(played, store)
    await turn(played, "second")
    found = await there(played, store)
    state = await played.journal.state(KEY)
    assert (found.payload, found.state) == (dump(state), state)
    assert [proof.finding for proof in await proofs(played.journal, store)] == ["same"]
    anew = FileSnapshots(tmp_path / "anew")
    await rebuild(played.journal, anew)
    again = await anew.load(SnapshotKey(KEY))
    assert again is not None
    assert again.payload == found.payload


async def test_a_thread_is_brought_when_its_turn_ends_or_has_a_checkpoint_and_not_at_each_step(
    played: Played, driver: Driver
) -> None:
    target = MemorySnapshots.name
    projection = Projection(played.journal, MemorySnapshots())

    async def due() -> list[str]:
        page = await driver.read(partial(snapshotting.find_due_snapshots, target, 0, 10))
        for thread in page.threads:
            assert await projection.project(thread)
        return [thread.turn_id for thread in page.threads]

    first = await played.submit("first " * 60_000)
    second = await played.submit("second")
    epoch = await played.claim(first)
    assert await due() == [first]
    await played.ask(first, epoch)
    assert await due() == []
    assert await played.journal.checkpoint(KEY, await played.journal.state(KEY))
    assert await due() == [first]
    assert await due() == []
    await played.answer(first, epoch, Text(text="done"))
    await played.claim(second)
    assert await due() == [second]
    assert await due() == []


@on_one_store
async def test_a_place_that_is_away_is_caught_up_with_by_whoever_comes_later(played: Played, follow: Follow) -> None:
    store = Fragile()
    store.fails["*"] = StoreUnavailable("it is away")
    loop = await follow(store)
    await turn(played)
    async with asyncio.timeout(DEADLINE_S):
        while not store.asked:
            await asyncio.sleep(0.02)
    await loop.stop()
    store.fails.clear()
    await follow(store)
    assert (await there(played, store)).version == 1


async def test_a_place_that_lost_everything_is_filled_again(
    played: Played, follow: Follow, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshotting, "ROWS_RESET_MAX", 1)
    store, side = FileSnapshots(tmp_path / "snapshots"), ThreadKey("t", None, "agent", "s", "side")
    for key in (KEY, side):
        await turn(played, key.thread, key)
    loop = await follow(store)
    for key in (KEY, side):
        await there(played, store, key)
    await loop.stop()
    (tmp_path / "snapshots").rename(tmp_path / "lost")
    await follow(store)
    for key in (KEY, side):
        assert (await there(played, store, key)).version == 1
    async with asyncio.timeout(DEADLINE_S):
        while (await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))).threads:
            await asyncio.sleep(0.02)


@on_one_store
async def test_one_state_that_is_refused_keeps_no_other_waiting(played: Played, follow: Follow) -> None:
    store = Fragile()
    bad, good = (ThreadKey("t", None, "agent", "s", name) for name in ("bad", "good"))
    store.fails["bad"] = StoreError("too large")
    await turn(played, "bad", bad)
    await turn(played, "good", good)
    with capture_logs() as logs:
        await follow(store)
        await there(played, store, good)
        await turn(played, "more", good)
        await there(played, store, good)
    assert [line["error"] for line in logs if line["event"] == "snapshot_refused"] == ["too large"]
    store.fails.clear()
    await turn(played, "bad again", bad)
    await there(played, store, bad)


async def test_whoever_dies_before_saying_so_brings_it_once_more(played: Played, follow: Follow) -> None:
    store = MemorySnapshots()
    await turn(played)
    driver = played.journal.driver

    def die(name: str) -> None:
        if name == "move_snapshot":
            raise StoreUnavailable("died")

    driver.hook = die
    page = await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))
    with pytest.raises(StoreUnavailable):
        await Projection(played.journal, store).project(page.threads[0])
    driver.hook = None
    again = await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))
    assert [thread.reached for thread in again.threads] == [0]
    await follow(store)
    assert (await there(played, store)).version == 1


@on_one_store
async def test_whoever_was_frozen_with_an_old_state_does_not_replace_what_others_brought_since(
    played: Played, driver: Driver
) -> None:
    store, thawed = MemorySnapshots(), asyncio.Event()

    class Frozen(MemorySnapshots):
        async def put(self, key: SnapshotKey, offer: Offer, **how: object) -> Kept:
            await thawed.wait()
            return await store.put(key, offer)

    await turn(played)
    [due] = (await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))).threads
    late = asyncio.create_task(Projection(played.journal, Frozen()).project(due))
    while (await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))).threads[0].reached is None:
        await asyncio.sleep(0.01)
    await turn(played, "second")
    [due] = (await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))).threads
    assert await Projection(played.journal, store).project(due)
    thawed.set()
    assert not await late
    found = await store.load(SnapshotKey(KEY))
    assert found is not None
    assert (found.version, found.state) == (1, await played.journal.state(KEY))


@on_one_store
async def test_whichever_statement_fails_the_next_try_ends_the_same(
    played: Played, driver: Driver, tmp_path: Path
) -> None:
    await turn(played)
    failed, n = True, 0
    while failed:
        n, left, failed = n + 1, n + 1, False
        store = FileSnapshots(tmp_path / str(n))

        def fail(_: str) -> None:
            nonlocal left, failed
            left -= 1
            if left == 0:
                failed = True
                raise StoreUnavailable("failed")

        projection = Projection(played.journal, store)
        find = partial(snapshotting.find_due_snapshots, store.name, 0, 10)
        [due] = (await driver.read(find)).threads
        driver.hook = fail
        with contextlib.suppress(StoreUnavailable):
            await projection.project(due)
        driver.hook = None
        for thread in (await driver.read(find)).threads:
            assert await projection.project(thread)
        assert [proof.finding async for proof in projection.verify()] == ["same"]
        found = await store.load(SnapshotKey(KEY))
        assert found is not None
        assert found.version == 1
    assert n > len(("begin", "find", "insert", "read", "move", "commit"))


async def test_what_was_erased_is_not_in_the_snapshot_either_also_while_a_turn_runs(
    played: Played, follow: Follow
) -> None:
    store = MemorySnapshots()
    await turn(played, "secret")
    await follow(store)
    assert b"secret" in (await there(played, store)).payload
    running = await played.submit("next")
    epoch = await played.claim(running)
    await there(played, store)  # with the turn that runs: its steps alone bring nothing
    await played.ask(running, epoch)
    for entry in await played.journal.entries(KEY):
        if entry.type in ("turn.queued", "model.responded"):
            erase = EraseEntry(request_id=f"e{entry.seq}", seq=entry.seq, principal="ann")
            await played.journal.execute(KEY, erase)
    async with asyncio.timeout(DEADLINE_S):
        while (found := await store.load(SnapshotKey(KEY))) is None or b"secret" in found.payload:
            await asyncio.sleep(0.02)


async def test_an_erasure_while_a_state_is_on_its_way_is_seen(played: Played, driver: Driver) -> None:
    store = MemorySnapshots()
    await turn(played, "secret")
    projection = Projection(played.journal, store)
    find = partial(snapshotting.find_due_snapshots, store.name, 0, 10)
    [due] = (await driver.read(find)).threads
    assert await projection.project(due)
    await turn(played, "second")
    [due] = (await driver.read(find)).threads
    said = [entry.seq for entry in await played.journal.entries(KEY) if entry.type == "model.responded"]
    for seq in said:
        await played.execute(KEY, EraseEntry(request_id=f"e{seq}", seq=seq, principal="ann"))
    assert not await driver.write(partial(snapshotting.save_snapshot, store.name, due, due.seq))
    assert [thread.reached for thread in (await driver.read(find)).threads] == [-2]


async def test_a_deleted_session_leaves_nothing_there_and_the_receipt_says_so(
    played: Played, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_delete, "SNAPSHOTS_WAIT_S", 0)
    store, kept = MemorySnapshots(), ThreadKey("t", None, "agent", "other")
    side = ThreadKey("t", None, "agent", "s", "side")
    for key in (KEY, side, kept):
        await turn(played, key.thread + key.session, key)
    loop = await follow(store)
    for key in (KEY, side, kept):
        await there(played, store, key)
    await loop.stop()
    deleted = await delete_session(played.journal, SESSION, DELETE)
    assert deleted.stores["snapshots"] == {"deleted": 0, "pending": 2}
    await follow(store)
    async with asyncio.timeout(DEADLINE_S):
        while await store.load(SnapshotKey(KEY)) or await store.load(SnapshotKey(side)):
            await asyncio.sleep(0.02)
    again = await delete_session(played.journal, SESSION, DELETE)
    assert again.stores["snapshots"] == {"deleted": 2, "pending": 0}
    assert "snapshots" not in again.stores["journal"]
    assert [key async for key in store.every_key()] == [SnapshotKey(kept)]
    monkeypatch.setattr(store_delete, "SNAPSHOTS_WAIT_S", DEADLINE_S)
    last = await delete_session(played.journal, kept.session_key, DELETE)
    assert last.stores["snapshots"] == {"deleted": 1, "pending": 0}
    with pytest.raises(SnapshotGone):
        await store.put(SnapshotKey(side), Offer.of_value(1_000, "late"))


@on_one_store
@pytest.mark.parametrize("error", [StoreUnavailable("a file is in the way"), StoreError("it is another one's")])
async def test_a_session_that_cannot_be_taken_away_keeps_no_other_waiting_and_is_tried_again(
    played: Played, follow: Follow, monkeypatch: pytest.MonkeyPatch, error: StoreError
) -> None:
    monkeypatch.setattr(store_delete, "SNAPSHOTS_WAIT_S", 0)
    monkeypatch.setattr(snapshots, "LOOK_ANYWAY_S", 0)
    store, other, third = Fragile(), *(ThreadKey("t", None, "agent", session) for session in ("other", "third"))
    for key in (KEY, other):
        await turn(played, key.session, key)
    loop = await follow(store)
    for key in (KEY, other):
        await there(played, store, key)
    await loop.stop()
    for key in (KEY, other):
        await delete_session(played.journal, key.session_key, DELETE)
    store.fails[KEY.session] = error
    await follow(store)
    await turn(played, "third", third)
    await there(played, store, third)
    assert {key async for key in store.every_key()} == {SnapshotKey(KEY), SnapshotKey(third)}
    store.fails.clear()
    async with asyncio.timeout(DEADLINE_S):
        while await store.load(SnapshotKey(KEY)):
            await asyncio.sleep(0.02)


async def test_nothing_is_begun_for_a_session_that_is_being_deleted(played: Played, driver: Driver, sql: Sql) -> None:
    store = MemorySnapshots()
    await turn(played)
    [due] = (await driver.read(partial(snapshotting.find_due_snapshots, store.name, 0, 10))).threads
    await played.journal.execute(SESSION, DELETE)
    assert not await Projection(played.journal, store).project(due)
    assert await store.load(SnapshotKey(KEY)) is None
    assert await sql("SELECT * FROM snapshots") == []


@on_one_store
async def test_a_snapshot_of_before_a_backup_was_restored_gives_way(played: Played, follow: Follow) -> None:
    store = MemorySnapshots()
    await store.put(SnapshotKey(KEY), Offer.of_value(5_000, "of a journal that is lost"))
    await turn(played)
    assert [proof.finding for proof in await proofs(played.journal, store)] == ["ahead"]
    with capture_logs() as logs:
        await follow(store)
        await there(played, store)
    assert [line["there"] for line in logs if line["event"] == "snapshot_ahead"] == [5_000]


@on_one_store
async def test_what_is_wrong_is_found_and_written_anew(played: Played, tmp_path: Path) -> None:
    journal, store = played.journal, FileSnapshots(tmp_path / "snapshots")
    names = ("missing", "damaged", "differs", "ahead", "gone", "fine", "behind")
    keys = {name: SnapshotKey(ThreadKey("t", None, "agent", name)) for name in names}
    for name, key in keys.items():
        await turn(played, name, key.thread)
    assert [proof.finding for proof in await rebuild(journal, store)] == ["same"] * len(names)
    await turn(played, "more", keys["behind"].thread)
    await store.remove(keys["missing"])
    await store.put(keys["differs"], Offer.of_value(1, {"other": 1}))
    state = await journal.state(keys["differs"].thread)
    await store.put(keys["differs"], Offer.of_value(state.as_of_seq, {"other": 1}))
    await store.put(keys["ahead"], Offer.of_value(9_000, {}))
    await store.delete_session(keys["gone"].thread.session_key)
    stray, deleted = (SnapshotKey(ThreadKey("t", None, "agent", name)) for name in ("stray", "deleted"))
    await turn(played, "deleted", deleted.thread)
    await delete_session(journal, deleted.thread.session_key, DELETE)
    for key in (stray, deleted):
        await store.put(key, Offer.of_value(1, {}))
    found = await store.load(keys["damaged"])
    assert found is not None
    Path(found.place).write_bytes(b"{}")
    proven = {proof.key.thread.session: proof.finding for proof in await proofs(journal, store)}
    assert proven == {
        "missing": "missing", "damaged": "unreadable", "differs": "differs", "ahead": "ahead", "gone": "missing",
        "fine": "same", "behind": "behind", "stray": "stray", "deleted": "stray",
    }  # fmt: skip
    await rebuild(journal, store)
    after = await proofs(journal, store)
    assert [(proof.key, proof.finding) for proof in after if proof.finding != "same"] == [(stray, "stray")]
    assert len(after) == len(names) + 1
