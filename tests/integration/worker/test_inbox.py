"""The inbox's loop: what is committed is queued at once, and neither a broken row nor a lost wake-up holds that up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import asyncpg
import pytest
from structlog.testing import capture_logs

from tests.integration.worker.conftest import Seeds, Sql, until
from turnwright.journal.commands import CreateSession, Submit
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user
from turnwright.journal.store_enlisting import enlist
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.inbox import PAGE_ROWS_MAX, TAKEN_OF_A_THREAD_MAX, Inbox

pytestmark = pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
NEVER_S = 3_600.0
SOON_S = 0.05

Enlist = Callable[..., Awaitable[None]]
Start = Callable[..., Awaitable[Inbox]]


class Woken:
    """Writes down who was woken; `away`: as if Temporal did not answer, `silent`: as if it were never to."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.away = self.silent = False

    async def wake(self, key: ThreadKey) -> None:
        self.threads.append(key.thread)
        if self.away:
            raise ConnectionError("nobody answers")
        if self.silent:
            await asyncio.Event().wait()


@pytest.fixture
def woken() -> Woken:
    return Woken()


@pytest.fixture
async def start(journal_url: str, woken: Woken) -> AsyncIterator[Start]:
    """Start a loop on a driver of its own, and wait until it has looked or sees that another leads."""
    async with AsyncExitStack() as stack:

        async def start(look_interval_s: float = NEVER_S) -> Inbox:
            own = open_driver(journal_url)
            await own.start()
            stack.push_async_callback(own.stop)
            inbox = Inbox(own, woken.wake, Terms, look_interval_s)
            await inbox.start()
            stack.push_async_callback(inbox.stop)
            return inbox

        yield start


@pytest.fixture
async def enlist_some(seeds: Seeds, postgres_server: str) -> AsyncIterator[Enlist]:
    """Submit tasks to a thread in one transaction, and commit it."""
    caller = await asyncpg.connect(postgres_server)

    async def enlist_some(thread: str, *requests: str) -> None:
        key = ThreadKey("t", None, "agent", "s", thread)
        await seeds.journal.execute(key.session_key, CreateSession(request_id="create"))
        async with caller.transaction():
            for request in requests:
                submit = Submit(request_id=request, turn_id=turn_id(key, request), input=user("hello"))
                assert (await enlist(seeds.journal, key, submit, caller.fetch)).status == "enlisted"

    yield enlist_some
    await caller.close()


async def test_each_commit_is_heard_of_without_another_look(start: Start, woken: Woken, enlist_some: Enlist) -> None:
    await start()
    for thread in ("a", "b", "c"):
        await enlist_some(thread, "one", "two")
        await until(partial(woken.threads.__contains__, thread))
    assert woken.threads == ["a", "b", "c"]


async def test_what_nobody_told_of_is_found_by_looking(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql
) -> None:
    await enlist_some("a", "one")
    await sql("CREATE TABLE kept AS SELECT * FROM inbox")
    await start(SOON_S)
    await until(lambda: woken.threads == ["a"])
    columns = "thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us"
    await sql(f"INSERT INTO inbox ({columns}) SELECT {columns} FROM kept")
    async with asyncio.timeout(20):
        while await sql("SELECT 1 FROM inbox"):
            await asyncio.sleep(0.01)
    assert await sql("SELECT count(*) FROM turns") == [(1,)]


async def test_many_are_taken_in_without_another_look(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql
) -> None:
    count = max(TAKEN_OF_A_THREAD_MAX, PAGE_ROWS_MAX) + 1
    await start()
    await enlist_some("a", *(f"{n:03}" for n in range(count)))
    async with asyncio.timeout(60):
        while await sql("SELECT count(*) FROM turns") != [(count,)]:
            await asyncio.sleep(0.05)
    queued = await sql("SELECT turn_id FROM turns ORDER BY queue_order")
    key = ThreadKey("t", None, "agent", "s", "a")
    assert [row[0] for row in queued] == [turn_id(key, f"{n:03}") for n in range(count)]
    assert set(woken.threads) == {"a"}


async def test_a_row_of_a_newer_version_waits_for_that_and_holds_nobody_else_up(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql, seeds: Seeds
) -> None:
    await enlist_some("a", "newer", "behind it")
    [(body,)] = await sql("SELECT body FROM inbox WHERE request_id = 'newer'")
    await sql("UPDATE inbox SET body = $1 WHERE request_id = 'newer'", body.replace(b"{", b'{"priority":1,', 1))
    await enlist_some("b", "one")
    await start()
    await until(lambda: woken.threads == ["b"])
    await seeds.submit(ThreadKey("t", None, "agent", "s", "a"), "now")
    assert await sql("SELECT request_id FROM inbox ORDER BY id") == [("newer",), ("behind it",)]


async def test_a_wake_up_that_cannot_be_given_keeps_no_turn_out_of_its_queue(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql
) -> None:
    woken.away = True
    await start()
    for thread in ("a", "b"):
        await enlist_some(thread, "one")
        await until(partial(woken.threads.__contains__, thread))
    assert await sql("SELECT count(*) FROM turns") == [(2,)]


async def test_one_looks_and_when_it_stops_another(
    driver: Driver, start: Start, woken: Woken, enlist_some: Enlist
) -> None:
    first = await start(SOON_S)
    await enlist_some("a", "one")
    await until(lambda: woken.threads == ["a"])
    second = await start(SOON_S)
    await until(lambda: first.lead.held)
    await first.stop()
    await enlist_some("b", "one")
    await until(lambda: woken.threads == ["a", "b"])
    await until(lambda: second.lead.held)


INTO_INBOX = """
    INSERT INTO inbox (thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us)
    VALUES ($1, sha256(convert_to($1, 'UTF8')), '', $2, 'r', $3, 0)
"""
NO_KEYS = ["", "{", "7", "[]", '["t"]', '["t",null,"agent","s",5]', '["t", null, "agent", "s", "a"]', "[" * 10_000]
NO_REQUESTS = [
    b"",
    b"\xff",
    b"null",
    b"[]",
    b'"text"',
    b"{}",
    b"[" * 100_000,
    b'{"request_id":"r","turn_id":"TURN"}',
    b'{"request_id":5,"turn_id":"TURN","input":{"role":"user","blocks":[]}}',
    b'{"request_id":"r","turn_id":"TURN","input":{"role":"user","blocks":"x"}}',
    b'{"request_id":"r","turn_id":"TURN","input":{"role":"user","blocks":[]},"budget":7}',
    b'{"request_id":"r","turn_id":"another\'s","input":{"role":"user","blocks":[{"type":"text","text":"hi"}]}}',
]


async def test_a_row_that_names_no_thread_holds_nobody_up(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql
) -> None:
    for spelled in NO_KEYS:
        await sql(INTO_INBOX, spelled, "t-1", b"{}")
    await enlist_some("b", "one")
    with capture_logs() as logs:
        await start()
        await until(lambda: woken.threads == ["b"])
    told = [line["thread"] for line in logs if line["event"] == "enlisted_not_taken"]
    assert told == [spelled[:200] for spelled in NO_KEYS]


async def test_a_row_that_is_no_request_holds_up_neither_others_nor_commands_to_its_thread(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql, seeds: Seeds
) -> None:
    keys = [ThreadKey("t", None, "agent", "s", f"a{n}") for n in range(len(NO_REQUESTS))]
    for key, body in zip(keys, NO_REQUESTS, strict=True):
        own = body.replace(b"TURN", turn_id(key, "r").encode())
        await sql(INTO_INBOX, key.canonical, f"t-{key.thread}", own)
    await enlist_some("b", "one")
    await start()
    await until(lambda: woken.threads == ["b"])
    for key in keys:
        await seeds.submit(key, "now")
    assert await sql("SELECT turn_id FROM inbox ORDER BY id") == [(f"t-{key.thread}",) for key in keys]


async def test_a_thread_is_woken_for_what_was_taken_in_before_a_row_that_cannot_be(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql
) -> None:
    await enlist_some("a", "fine", "broken")
    await sql("UPDATE inbox SET body = $1 WHERE request_id = 'broken'", b"{")
    await start(SOON_S)
    await until(lambda: woken.threads == ["a"])
    assert await sql("SELECT count(*) FROM turns") == [(1,)]


async def test_a_temporal_that_is_silent_is_not_waited_for_again_and_again(
    start: Start, woken: Woken, enlist_some: Enlist, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwright.worker.inbox.WAKE_TIMEOUT_S", SOON_S)
    monkeypatch.setattr("turnwright.worker.inbox.SILENT_PAUSE_S", NEVER_S)
    woken.silent = True
    await start()
    for count, thread in enumerate(("a", "b", "c"), start=1):
        await enlist_some(thread, "one")
        async with asyncio.timeout(20):
            while await sql("SELECT count(*) FROM turns") != [(count,)]:
                await asyncio.sleep(0.01)
    assert woken.threads == ["a"]
