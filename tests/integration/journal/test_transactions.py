"""What one transaction on a thread answers and keeps, on every store."""

import asyncio
from functools import partial

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.journal.commands import (
    CancelSession,
    CancelThread,
    FailModel,
    PauseTurn,
    RequestModel,
    ResumeTurn,
    RetryTurn,
    Steer,
)
from turnwright.journal.decide.thread_rules import QUEUE_TURNS_MAX
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Media, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.sweeping import find_cancelled
from turnwright.journal.transact.thread_script import Terms


async def test_a_receipt_tells_the_revision_of_a_turn_that_is_not_the_active_one(played: Played) -> None:
    turn = await played.submit("one")
    steered = await played.execute(KEY, Steer(request_id="steer", turn_id=turn, message=user("and this")))
    assert steered.revision == 1
    paused = await played.execute(KEY, PauseTurn(request_id="pause", turn_id=turn))
    assert paused.revision == 2
    refused = await played.journal.execute(KEY, ResumeTurn(request_id="resume", turn_id=turn, revision=1))
    assert (refused.code, refused.revision) == ("stale_revision", 2)


async def test_a_turns_row_says_when_it_changed_last(played: Played, sql: Sql) -> None:
    turn = await played.submit("one")
    await played.execute(KEY, PauseTurn(request_id="pause", turn_id=turn))
    [(updated_us,)] = await sql("SELECT updated_us FROM turns")
    [(at_us,)] = await sql("SELECT max(at_us) FROM entries")
    assert updated_us == at_us


async def test_a_claim_under_a_presence_others_take_for_dead_is_refused(driver: Driver, played: Played) -> None:
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    hold = await driver.hold_presence("broken", {}, lease_s=600)
    await hold.release()
    broken = Journal(driver, Terms(presence="broken"))
    claim = RequestModel(turn_id=turn, epoch=epoch, step=1, nonce="n", presence="broken")
    outcome = await broken.run(KEY, claim)
    assert outcome.rejection is not None
    assert outcome.rejection.code == "presence_lost"
    assert (await played.ask(turn, epoch)).entries


@pytest.mark.slow
async def test_a_retried_turn_before_a_full_queue_is_cancelled_with_the_rest(played: Played, sql: Sql) -> None:
    turn = await played.submit("failing", on_failure="hold")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await asyncio.gather(*(played.submit(f"turn {n}") for n in range(QUEUE_TURNS_MAX)))
    failure = FailModel(turn_id=turn, epoch=epoch, step=1, ordinal=1, failure="auth", message="no")
    await played.run(KEY, failure)
    await played.execute(KEY, RetryTurn(request_id="retry", turn_id=turn))
    await played.execute(KEY, CancelThread(request_id="cancel"))
    assert await sql("SELECT phase, count(*) FROM turns GROUP BY phase") == [("cancelled", QUEUE_TURNS_MAX + 1)]


async def test_a_turn_retried_after_its_session_was_cancelled_is_not_taken_for_one_of_before(played: Played) -> None:
    turn = await played.submit("failing")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.run(KEY, FailModel(turn_id=turn, epoch=epoch, step=1, ordinal=1, failure="auth", message="no"))
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    await played.execute(KEY, RetryTurn(request_id="retry", turn_id=turn))
    page = await played.journal.driver.read(partial(find_cancelled, 0, 10, 10))
    assert page.suspects == ()
    assert [finding async for proof in verify(played.journal) for finding in proof.findings] == []


async def test_threads_that_keep_the_same_contents_at_once_do_not_deadlock(driver: Driver, played: Played) -> None:
    one, two = (ThreadKey("t", None, "agent", "s", name) for name in ("one", "two"))
    first, second = "a" * 64, "b" * 64
    blobs = {first: b"first", second: b"second"}
    claimed = {}
    for key in (one, two):
        turn = await played.submit("x", key)
        epoch = await played.claim(turn, key)
        await played.ask(turn, epoch, key)
        claimed[key] = (turn, epoch)
    inserts: list[str] = []
    both = asyncio.Barrier(2 if driver.dialect == "postgres" else 1)

    async def hook(point: str) -> None:
        if point == "insert_blob":
            inserts.append(point)
            if len(inserts) <= 2:
                await both.wait()
            await asyncio.sleep(0.1)  # so that each has one before it wants the other

    driver.hook = hook
    media = tuple(Media(mime="image/png", blob=sha) for sha in blobs)
    orders = (blobs, dict(reversed(blobs.items())))
    await asyncio.gather(
        *(
            played.answer(*claimed[key], *media, key=key, blobs=order)
            for key, order in zip((one, two), orders, strict=True)
        )
    )
    assert len(inserts) == 4, "none had to run again"
    assert await played.journal.blobs(SESSION, blobs) == blobs
