"""A submit in its caller's own transaction: it happens with the commit, or not at all, and holds nobody up."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import asyncpg
import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.unit.source_tree import ROOT
from turnwright.client import Client, CommandRejected, InvalidInput, NotFound, Session, Turn, TurnFailed
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.enlisted import take_in
from turnwright.journal.messages import Media, Message, Text
from turnwright.journal.script import first
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.enlisting import find_inbox
from turnwright.journal.transact.rows import find_session_id
from turnwright.journal.transact.thread_script import Terms

pytestmark = pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)

Caller: TypeAlias = Any  # a connection of asyncpg, which ships no types
Open: TypeAlias = Callable[[], Awaitable[Caller]]
WAIT_S = 20
AT_ONCE_S = 5  # long before any lock of ours gives up


@pytest.fixture
async def open_caller(postgres_server: str) -> AsyncIterator[Open]:
    """Connections as an application has them: their search path is the server's, not the journal's."""
    async with AsyncExitStack() as stack:

        async def opened() -> Caller:
            connection = await asyncpg.connect(postgres_server)
            stack.push_async_callback(connection.close)
            return connection

        yield opened


@pytest.fixture
async def caller(open_caller: Open) -> Caller:
    return await open_caller()


async def taken_in(driver: Driver) -> list[int]:
    """What a worker does when it hears of a commit: how many turns it took in, by thread."""
    page = await driver.read(lambda: find_inbox(0, 100))
    return [await take_in(driver, key, Terms()) for key in page.keys]


async def said(session: Session) -> list[str]:
    """The types of the entries of the session's first thread."""
    return [entry.type for entry in await session.thread(AGENT).history()]


async def order(client: Client, session: Session) -> list[str]:
    """The queued turns of the session's first thread, in order."""
    page = await client.turns(session, agent=AGENT, thread="main", phases=("queued",))
    return [item.status.turn_id for item in sorted(page.items, key=lambda item: item.status.queue_order)]


async def proven(hands: Hands) -> bool:
    return not [finding async for proof in verify(hands.journal) for finding in proof.findings]


async def test_a_turn_is_queued_when_its_caller_s_transaction_is_committed(
    session: Session, driver: Driver, hands: Hands, caller: Caller
) -> None:
    async with caller.transaction():
        turn = await session.submit("hello", agent=AGENT, connection=caller)
        assert turn.receipt is not None
        assert (turn.receipt.status, turn.receipt.turn_id, turn.receipt.duplicate) == ("enlisted", turn.id, False)
        with pytest.raises(NotFound, match="not committed yet"):
            await turn.wait(WAIT_S)
        assert await taken_in(driver) == []
    assert await taken_in(driver) == [1]
    await hands.finish(turn, "done")
    assert (await turn.result(WAIT_S)).text == "done"
    assert await taken_in(driver) == []
    assert await proven(hands)


async def test_of_a_transaction_that_is_rolled_back_nothing_remains(
    session: Session, driver: Driver, caller: Caller
) -> None:
    transaction = caller.transaction()
    await transaction.start()
    turn = await session.submit("hello", agent=AGENT, connection=caller)
    await transaction.rollback()
    assert await taken_in(driver) == []
    with pytest.raises(NotFound, match="rolled back"):
        await turn.status()
    await session.submit("hello", agent=AGENT)
    assert await said(session) == ["turn.queued"]


async def test_of_a_caller_that_is_killed_before_its_commit_nothing_remains(
    session: Session, driver: Driver, journal_url: str, postgres_server: str, caller: Caller
) -> None:
    command = (sys.executable, "-m", "tests.integration.client.enlisting_caller", journal_url, postgres_server)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        turn_id = (await asyncio.wait_for(process.stdout.readline(), WAIT_S)).decode().strip()
        others = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE state = 'idle in transaction' AND application_name <> 'turnwright'"
        )
        assert await caller.fetchval(others) == 1
        process.kill()
        async with asyncio.timeout(WAIT_S):
            while await caller.fetchval(others):
                await asyncio.sleep(0.01)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert await taken_in(driver) == []
    with pytest.raises(NotFound):
        await session.thread(AGENT).turn(turn_id).status()


async def test_two_threads_may_be_given_turns_in_one_transaction_and_each_keeps_its_order(
    client: Client, session: Session, driver: Driver, caller: Caller
) -> None:
    async with caller.transaction():
        turns = [await session.submit(f"{n}", agent=AGENT, connection=caller) for n in range(3)]
        other = await session.submit("other", agent=AGENT, thread="side", connection=caller)
    assert sorted(await taken_in(driver)) == [1, 3]
    assert await order(client, session) == [turn.id for turn in turns]
    assert (await other.status()).status == "queued"


async def test_an_open_transaction_holds_nobody_up(
    client: Client, session: Session, open_caller: Open, caller: Caller, driver: Driver
) -> None:
    second = await open_caller()
    one, two = caller.transaction(), second.transaction()
    await one.start()
    await two.start()
    kept = await session.submit("first", agent=AGENT, request_id="same", connection=caller)
    async with asyncio.timeout(AT_ONCE_S):
        await session.submit("first", agent=AGENT, request_id="same", connection=second)
        turn = await session.submit("now", agent=AGENT)
        assert (await session.submit("first", agent=AGENT, request_id="same")).id == kept.id
        await session.pause()
        await session.resume()
        await session.thread(AGENT).cancel()
        assert (await turn.status()).status == "cancelled"
        await session.delete()
        await one.commit()
        await two.commit()
        assert await taken_in(driver) == [2]
    with pytest.raises(NotFound):
        await kept.status()
    assert (await driver.read(lambda: find_inbox(0, 1))).keys == ()


async def test_what_was_committed_before_a_command_comes_before_it(
    client: Client, session: Session, caller: Caller
) -> None:
    async with caller.transaction():
        first = await session.submit("first", agent=AGENT, connection=caller)
    second = await session.submit("second", agent=AGENT)
    assert await order(client, session) == [first.id, second.id]
    async with caller.transaction():
        third = await session.submit("third", agent=AGENT, connection=caller)
    await third.cancel()
    assert (await third.status()).status == "cancelled"
    async with caller.transaction():
        await session.submit("fourth", agent=AGENT, thread="side", connection=caller)
    with pytest.raises(CommandRejected) as rejected:
        await session.submit("fifth", agent=AGENT, thread="side", if_busy="reject")
    assert rejected.value.code == "busy"


async def test_a_turn_that_cannot_be_queued_after_the_commit_fails_with_the_code(
    session: Session, driver: Driver, hands: Hands, caller: Caller
) -> None:
    async with caller.transaction():
        late = await session.submit("late", agent=AGENT, if_busy="reject", on_failure="hold", connection=caller)
        before = await session.submit("before", agent=AGENT)
    assert await taken_in(driver) == [1]
    with pytest.raises(TurnFailed) as failed:
        await late.result(WAIT_S)
    assert (failed.value.code, failed.value.retryable) == ("busy", False)
    assert [entry.type async for entry in late.events()] == ["turn.queued", "turn.failed", "input.discarded"]
    assert "it never started, so submit it anew" in (await late.why()).text
    with pytest.raises(CommandRejected) as rejected:
        await late.retry()
    assert rejected.value.code == "never_started"
    await hands.finish(before, "done")
    state = await session.thread(AGENT).state()
    assert [message.text for message in state.context] == ["before", "done"]
    assert state.inbox == ()
    assert not (await session.thread(AGENT).status()).control.pause.on
    assert await proven(hands)


async def test_a_thread_that_is_closed_meanwhile_takes_no_turn_and_one_that_is_closed_already_no_submit(
    session: Session, driver: Driver, caller: Caller
) -> None:
    thread = session.thread(AGENT)
    await thread.inject("material")
    async with caller.transaction():
        turn = await thread.submit("late", connection=caller)
        await thread.close()
        with pytest.raises(CommandRejected) as rejected:
            await thread.submit("later", connection=caller)
        assert rejected.value.code == "thread_closed"
    waiting = asyncio.create_task(turn.wait(WAIT_S))
    assert await taken_in(driver) == [1]
    view = await waiting
    assert (view.phase, view.code) == ("failed", "thread_closed")


@pytest.mark.parametrize("session_id", ["never made", "gone"])
async def test_a_submit_to_no_session_is_rejected_and_the_transaction_goes_on(
    client: Client, caller: Caller, driver: Driver, session_id: str
) -> None:
    gone = client.session("ann", "gone")
    await gone.create()
    await gone.delete()
    async with caller.transaction():
        turn = await client.session("ann", session_id).submit("x", agent=AGENT, connection=caller, check=False)
        assert turn.receipt is not None
        assert turn.receipt.code == "unknown_session"
    assert await taken_in(driver) == []


async def test_a_request_that_is_repeated_is_the_same_turn_wherever_it_is_repeated(
    session: Session, driver: Driver, open_caller: Open, caller: Caller
) -> None:
    async def submit(text: str, **how: Any) -> Turn:  # noqa: ANN401
        return await session.submit(text, agent=AGENT, request_id="r", **how)

    second = await open_caller()
    async with caller.transaction(), second.transaction():
        turn = await submit("hello", connection=caller)
        again = await submit("hello", connection=caller)
        elsewhere = await submit("hello", connection=second)
        assert [t.receipt.duplicate for t in (turn, again, elsewhere) if t.receipt] == [False, True, False]
        with pytest.raises(CommandRejected, match="used for another command"):
            await submit("something else", connection=caller)
    async with caller.transaction():
        with pytest.raises(CommandRejected, match="used for another command"):
            await submit("something else", connection=caller)
        assert (await submit("hello", connection=caller)).receipt == again.receipt
    assert await taken_in(driver) == [2]
    async with caller.transaction():
        known = await submit("hello", connection=caller)
        assert known.receipt is not None
        assert (known.receipt.status, known.receipt.duplicate) == ("accepted", True)
        with pytest.raises(CommandRejected, match="used for another command"):
            await submit("something else", connection=caller)
    assert {t.id for t in (turn, again, elsewhere, known, await submit("hello"))} == {turn.id}
    assert await taken_in(driver) == []
    assert await said(session) == ["turn.queued"]


async def test_of_two_requests_of_one_id_in_transactions_open_at_once_the_first_is_the_turn(
    session: Session, driver: Driver, open_caller: Open, caller: Caller
) -> None:
    second = await open_caller()
    async with caller.transaction(), second.transaction():
        turn = await session.submit("one", agent=AGENT, request_id="r", connection=caller)
        other = await session.submit("another", agent=AGENT, request_id="r", connection=second)
    assert other.id == turn.id
    assert await taken_in(driver) == [2]
    [queued] = await session.thread(AGENT).history()
    assert getattr(queued.payload, "input").text == "one"  # noqa: B009


async def test_it_is_taken_in_once_however_many_look(
    client: Client, session: Session, driver: Driver, journal_url: str, caller: Caller
) -> None:
    async with caller.transaction():
        turns = [await session.submit(f"{n}", agent=AGENT, connection=caller) for n in range(10)]
    other = open_driver(journal_url)
    await other.start()
    try:
        await asyncio.gather(*(take_in(d, turns[0].key, Terms()) for d in (driver, other) * 4))
    finally:
        await other.stop()
    assert await said(session) == ["turn.queued"] * 10
    assert await order(client, session) == [turn.id for turn in turns]


async def test_a_turn_that_waits_to_be_taken_in_is_seen_and_says_why(
    client: Client, session: Session, driver: Driver, caller: Caller
) -> None:
    async with caller.transaction():
        turn = await session.submit("hello", agent=AGENT, connection=caller)
    assert (await (await client.turn(turn.id[:12])).status()).status == "queued"
    assert (await turn.why()).code == "no_worker"
    await driver.hold_presence("w", {}, lease_s=60)
    assert (await turn.why()).code == "enlisted"
    with pytest.raises(NotFound):
        await session.thread("another").turn(turn.id).status()


async def test_a_deleted_session_leaves_nothing_in_the_inbox(session: Session, driver: Driver, caller: Caller) -> None:
    async with caller.transaction():
        turns = [await session.submit("secret", agent=AGENT, thread=thread, connection=caller) for thread in ("a", "b")]
    deleted = await session.delete()
    assert deleted.stores["journal"]["enlisted"] == 2
    assert (await driver.read(lambda: find_inbox(0, 1))).keys == ()
    with pytest.raises(NotFound):
        await turns[0].status()


async def test_a_file_that_is_nowhere_is_refused_before_the_commit_and_one_that_is_erased_after_it_is_left_out(
    session: Session, driver: Driver, hands: Hands, caller: Caller
) -> None:
    sha, png = hashlib.sha256(b"png").hexdigest(), b"png"
    picture = Message(role="user", blocks=(Text(text="Look:"), Media(mime="image/png", blob=sha)))
    session_id = await driver.read(lambda: find_session_id(session.key))
    await driver.write(lambda: first("insert_blob", session_id, sha, len(png), png))
    async with caller.transaction():
        turn = await session.submit(picture, agent=AGENT, connection=caller)
    await driver.write(lambda: first("delete_unused_blob", session_id, sha))
    async with caller.transaction():
        with pytest.raises(InvalidInput, match=sha):
            await session.submit(picture, agent=AGENT, connection=caller)
    assert await taken_in(driver) == [1]
    await hands.finish(turn, "done")
    state = await session.thread(AGENT).state()
    assert state.context[0].blocks == (Text(text="Look:"), Media(mime="image/png"))
    assert await proven(hands)
