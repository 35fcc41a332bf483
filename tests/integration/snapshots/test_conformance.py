"""What every store of snapshots does: the same on each of them."""

import asyncio
import json
import re
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from tests.integration.snapshots.conftest import Opener
from tests.integration.snapshots.damage import refused
from turnwright.journal.canonical import encode
from turnwright.journal.errors import InvalidInput, SnapshotConflict, SnapshotGone, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Policy, judge
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.snapshot import Head, Offer, SnapshotKey

THREAD = ThreadKey("default", "ann", "shop", "order-17")
KEY = SnapshotKey(THREAD)
WRITERS = 16


def offer(as_of_seq: int, value: object = "said") -> Offer:
    return Offer.of_value(as_of_seq, {"value": value})


async def test_what_was_kept_is_loaded_with_its_version_and_its_place(store: SnapshotStore, opener: Opener) -> None:
    assert await store.load(KEY) is None
    assert (await store.put(KEY, offer(7, "é 🙂"))).version == 1
    found = await (await opener()).load(KEY)
    assert found is not None
    assert (found.key, found.version, found.as_of_seq, found.value) == (KEY, 1, 7, {"value": "é 🙂"})
    assert found.payload == encode({"value": "é 🙂"})
    assert store.name in found.place or "/snapshots/" in found.place or "place-" in found.place


async def test_a_place_is_called_the_same_by_all_until_it_was_lost(opener: Opener, place: str) -> None:
    stores = [await opener() for _ in range(4)]
    [called] = set(await asyncio.gather(*(store.place_id() for store in stores)))
    await stores[0].put(KEY, offer(1))
    await stores[0].delete_session(THREAD.session_key, [THREAD])
    assert await (await opener()).place_id() == called
    assert await listed(stores[0]) == []


async def test_a_place_is_that_of_the_journal_that_claims_it_first(opener: Opener) -> None:
    stores = [await opener() for _ in range(4)]
    assert await stores[0].owner() == ""
    [owner] = set(await asyncio.gather(*(store.owner(f"journal-{n}") for n, store in enumerate(stores))))
    assert owner in {f"journal-{n}" for n in range(4)}
    assert [await (await opener()).owner(), await stores[3].owner("late")] == [owner, owner]
    await stores[0].put(KEY, offer(1))
    await stores[0].delete_session(THREAD.session_key, [THREAD])
    assert await stores[0].owner() == owner != await stores[0].place_id()
    assert await listed(stores[0]) == []


async def test_each_unconditional_write_returns_its_own_version(opener: Opener) -> None:
    stores = [await opener() for _ in range(4)]
    done = await asyncio.gather(*(stores[n % 4].put(KEY, offer(5, n)) for n in range(WRITERS)))
    versions = {kept.version: n for n, kept in enumerate(done) if kept.written}
    assert sorted(versions) == list(range(1, WRITERS + 1))
    last = await stores[0].load(KEY)
    assert last is not None
    assert (last.version, last.value) == (WRITERS, {"value": versions[WRITERS]})


async def test_the_same_state_is_written_once(store: SnapshotStore) -> None:
    assert (await store.put(KEY, offer(5))).written
    again = await store.put(KEY, offer(5))
    assert (again.written, again.version) == (False, 1)


async def test_an_older_one_never_replaces_a_newer_one_whoever_races(opener: Opener) -> None:
    stores = [await opener() for _ in range(4)]
    seqs = [n * 7 % WRITERS for n in range(WRITERS)]
    done = await asyncio.gather(*(stores[n % 4].put(KEY, offer(seq, seq)) for n, seq in enumerate(seqs)))
    last = await stores[0].load(KEY)
    assert last is not None
    assert (last.as_of_seq, last.value) == (WRITERS - 1, {"value": WRITERS - 1})
    assert last.version == sum(kept.written for kept in done)
    for kept, seq in zip(done, seqs, strict=True):
        assert kept.written == (kept.as_of_seq == seq)
        assert kept.as_of_seq >= seq


async def test_an_older_one_is_refused_where_that_is_wanted(store: SnapshotStore) -> None:
    await store.put(KEY, offer(9))
    with pytest.raises(SnapshotConflict, match=r"version 1, of entry 9\)") as caught:
        await store.put(KEY, offer(8), policy="fail")
    assert (caught.value.version, caught.value.as_of_seq) == (1, 9)
    kept = await store.put(KEY, offer(8), policy="keep_newer")
    assert (kept.written, kept.version, kept.as_of_seq) == (False, 1, 9)


@pytest.mark.parametrize("policy", ["fail", "keep_newer"])
async def test_whoever_reads_and_writes_on_loses_nothing_beside_others(opener: Opener, policy: Policy) -> None:
    async def add(store: SnapshotStore, name: int) -> None:
        while True:
            found = await store.load(KEY)
            before, version = ([], 0) if found is None else (found.value, found.version)
            try:
                made = Offer.of_value(3, [*before, name])
                if (await store.put(KEY, made, policy=policy, expected_version=version)).written:
                    return
            except SnapshotConflict:
                assert policy == "fail"

    stores = [await opener() for _ in range(4)]
    await asyncio.gather(*(add(stores[n % 4], n) for n in range(WRITERS)))
    found = await stores[0].load(KEY)
    assert found is not None
    assert (sorted(found.value), found.version) == (list(range(WRITERS)), WRITERS)


STORED = (None, 4, 5, 6)
EXPECTED = (None, 0, 1, 2)


async def test_every_store_decides_as_the_pure_function(store: SnapshotStore) -> None:
    for n, (stored, expected, policy, same) in enumerate(product(STORED, EXPECTED, ("fail", "keep_newer"), (0, 1))):
        key = SnapshotKey(THREAD, f"state-{n}")
        before = None if stored is None else offer(stored, "said")
        if before is not None:
            await store.put(key, before)
        head = None if before is None else Head(1, before.as_of_seq, before.sha256)
        made = offer(5, "said" if same else "other")
        verdict = judge(head, made, policy, expected)  # type: ignore[arg-type]
        try:
            done = await store.put(key, made, policy=policy, expected_version=expected)  # type: ignore[arg-type]
            written = done.written
        except SnapshotConflict:
            assert policy == "fail"
            written = False
        assert written == (verdict == "write"), (stored, expected, policy, same)
        now = await store.load(key)
        left = made if written else before
        assert (None if now is None else now.payload) == (None if left is None else left.payload)


NAMES = ["a", "A", "a ", "ä", "a\u0308", "a/b", "a:b", "..", "../../etc", "*", "a'b", 'a","b', "🙂" * 200, "x" * 200]


async def test_ids_that_look_alike_never_meet_and_never_leave_the_place(store: SnapshotStore) -> None:
    keys = [SnapshotKey(ThreadKey("t", name, "g", "s", "m")) for name in NAMES]
    keys += [SnapshotKey(ThreadKey("t", "u", "g", name, "m")) for name in NAMES]
    keys += [SnapshotKey(ThreadKey("t", "u", "g", "s", name), state_key=name) for name in NAMES]
    keys += [SnapshotKey(ThreadKey("t", None, "g", "s", "m")), SnapshotKey(ThreadKey("t", "None", "g", "s", "m"))]
    keys += [SnapshotKey(ThreadKey(n * 200, n * 200, n * 200, n * 200, n * 200), n * 200) for n in ("y", "🙂")]
    for n, key in enumerate(keys):
        assert (await store.put(key, offer(n, n))).version == 1, key
    for n, key in enumerate(keys):
        found = await store.load(key)
        assert found is not None
        assert (found.key, found.value) == (key, {"value": n})
    assert sorted(await listed(store), key=lambda key: key.canonical) == sorted(keys, key=lambda key: key.canonical)


async def listed(store: SnapshotStore) -> list[SnapshotKey]:
    return [key async for key in store.every_key()]


async def test_a_state_of_20_megabytes_is_kept_whole(store: SnapshotStore) -> None:
    large = offer(3, "🙂 said " * 2_000_000)
    assert len(large.payload) > 20_000_000
    await store.put(KEY, large)
    found = await store.load(KEY)
    assert found is not None
    assert found.payload == large.payload


async def test_what_no_store_can_hold_is_repaired_visibly(store: SnapshotStore) -> None:
    await store.put(KEY, offer(3, "a\x00b \ud83d c\ud83d\ude42"))
    found = await store.load(KEY)
    assert found is not None
    assert found.value == {"value": "a\u2400b \ufffd c🙂"}
    assert json.loads(found.payload) == found.value


async def test_a_deleted_session_is_gone_takes_nothing_and_leaves_others_alone(
    store: SnapshotStore, opener: Opener
) -> None:
    other = SnapshotKey(ThreadKey("default", "ann", "shop", "order-18"))
    second = SnapshotKey(ThreadKey("default", "ann", "shop", "order-17", "notes"))
    never = ThreadKey("default", "ann", "shop", "order-17", "never written")
    for key in (KEY, second, other):
        await store.put(key, offer(3))
    assert await store.delete_session(THREAD.session_key, [THREAD, never]) == 2
    assert await store.delete_session(THREAD.session_key, [THREAD, never]) == 0
    late = await opener()
    for key in (KEY, second, SnapshotKey(never)):
        assert await late.load(key) is None
        with pytest.raises(SnapshotGone, match="its session was deleted"):
            await late.put(key, offer(100))
    assert await listed(late) == [other]
    assert not await late.remove(KEY)
    await late.revive_session(THREAD.session_key)
    assert (await late.put(KEY, offer(1))).version == 1


async def test_whoever_writes_while_the_session_is_deleted_leaves_nothing(opener: Opener) -> None:
    stores = [await opener() for _ in range(4)]

    async def write(n: int) -> None:
        try:
            await stores[n % 4].put(KEY, offer(n, n))
        except SnapshotGone:
            return

    writers = [asyncio.create_task(write(n)) for n in range(WRITERS)]
    await asyncio.sleep(0)
    await stores[0].delete_session(THREAD.session_key, [THREAD])
    await asyncio.gather(*writers)
    assert await stores[0].load(KEY) is None
    assert await listed(stores[0]) == []


async def test_one_is_removed_only_as_the_version_that_was_seen(store: SnapshotStore) -> None:
    await store.put(KEY, offer(3))
    await store.put(KEY, offer(4))
    assert not await store.remove(KEY, version=1)
    assert await store.remove(KEY, version=2)
    assert not await store.remove(KEY, version=2)
    assert not await store.remove(KEY)
    assert await store.load(KEY) is None


async def test_what_cannot_be_a_snapshot_is_refused(store: SnapshotStore) -> None:
    with pytest.raises(InvalidInput, match="state_key must be a text of 1 to 200 characters"):
        await store.put(SnapshotKey(THREAD, ""), offer(1))
    with pytest.raises(InvalidInput, match="an entry's number, not for -1"):
        await store.put(KEY, offer(-1))
    with pytest.raises(InvalidInput, match="the policy of a snapshot is fail or keep_newer"):
        await store.put(KEY, offer(1), policy="newest")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a snapshot's version is 0"):
        await store.put(KEY, offer(1), expected_version=-1)
    with pytest.raises(InvalidInput, match="session must be"):
        await store.delete_session(SessionKey("default", "ann", "x" * 201))
    assert await listed(store) == []


def _redis(place: str) -> Any:  # noqa: ANN401 - its own annotations allow sync and async answers at once
    return Redis.from_url(place.partition("?")[0])


async def test_a_field_of_redis_that_was_changed_is_an_error(redis_place: str) -> None:
    [prefix] = parse_qs(urlsplit(redis_place).query)["prefix"]
    async with open_snapshots(redis_place) as store, _redis(redis_place) as redis:
        await store.put(KEY, offer(3))
        [name] = [key async for key in redis.scan_iter() if key.startswith(prefix.encode())]
        [head, body] = sorted(await redis.hkeys(name), reverse=True)
        place = name.decode()
        await redis.hset(name, body, b'{"said":"other"}')
        await refused(store, KEY, place, head=False)
        await redis.hset(name, head, b"one two three")
        await refused(store, KEY, place)
        await redis.hdel(name, head)
        await refused(store, KEY, place, head=False)
        await redis.delete(name)
        await redis.set(name, "somebody else's")
        await refused(store, KEY, place)
        assert await redis.get(name) == b"somebody else's"


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mariadb"])
async def test_a_row_that_was_changed_is_an_error(kind: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue(f"{kind}_place")
    table = parse_qs(urlsplit(place).query).get("table", ["turnwright_snapshots"])[0]
    server = place.replace(f"&table={table}", "")
    engine = create_async_engine(server)
    async with open_snapshots(place) as store:
        await store.put(KEY, offer(3))
        async with engine.begin() as connection:
            await connection.execute(text(f"UPDATE {table} SET payload = :body"), {"body": b'{"said":"other"}'})
        await refused(store, KEY, table if table in store.name else "snapshots.db", head=False)
    await engine.dispose()


CUTTING = {
    "postgres": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND user = 'root'",
}


@pytest.mark.parametrize("kind", ["redis", *CUTTING])
async def test_a_connection_that_was_cut_is_an_error_or_made_anew_and_never_an_empty_state(
    kind: str, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue(f"{kind}_place")
    async with open_snapshots(place) as store:
        for n in range(3):
            done = await store.put(KEY, offer(n, n))
            await cut(kind, place)
            try:
                found = await store.load(KEY)
            except StoreUnavailable:
                found = await store.load(KEY)
            assert found is not None
            assert (found.version, found.value) == (done.version, {"value": n}) == (n + 1, {"value": n})


async def cut(kind: str, place: str) -> None:
    """Have the server end all connections but the one that says so."""
    if kind == "redis":
        async with _redis(place) as redis:
            await redis.client_kill_filter(_type="normal", skipme=True)
        return
    engine = create_async_engine(re.sub("[?&]table=.*", "", place), isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for (number,) in (await connection.execute(text(CUTTING[kind]))).all():
            if kind == "mariadb":
                await connection.execute(text(f"KILL {number}"))
    await engine.dispose()
