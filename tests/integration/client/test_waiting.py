"""Waiting for a turn: it ends with the turn, from whatever process, and is nothing the turn could notice."""

import asyncio

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import NotFound, Session, Turn, TurnCancelled, TurnFailed, WaitTimeout
from turnwright.journal.entries import Entry
from turnwright.journal.entries import TurnCancelled as Cancelled


async def test_the_answer_is_the_last_message_of_the_model(session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT)
    call_id = await hands.call_tool(turn)
    await hands.finish_tool(turn, call_id)
    await hands.ask_model(turn, 2)
    waiting = asyncio.create_task(turn.result(30))
    await hands.answer(turn, "the answer", step=2)
    message = await waiting
    assert (message.role, message.text) == ("assistant", "the answer")
    state = await session.thread(AGENT).state()
    assert message.model_copy(update={"metadata": {}}) == state.context[-1]


async def test_a_turn_that_failed_or_was_cancelled_raises_what_it_ended_with(session: Session, hands: Hands) -> None:
    failed = await session.submit("one", agent=AGENT)
    await hands.ask_model(failed)
    await hands.fail_model(failed, "auth")
    with pytest.raises(TurnFailed, match="auth") as caught:
        await failed.result(30)
    assert (caught.value.code, caught.value.retryable) == ("model_error", True)
    cancelled = await session.submit("two", agent=AGENT)
    await cancelled.cancel()
    with pytest.raises(TurnCancelled) as stopped:
        await cancelled.result(30)
    assert stopped.value.code == "cancelled_by_turn"


async def test_a_wait_that_times_out_or_is_cancelled_leaves_the_turn_alone(session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT)
    await hands.ask_model(turn)
    before = await session.history()
    with pytest.raises(WaitTimeout):
        await turn.wait(0.05)
    with pytest.raises(TimeoutError):
        await turn.result(0)
    waiting = asyncio.create_task(turn.wait())
    reading = asyncio.create_task(_read(turn))
    await asyncio.sleep(0)
    for task in (waiting, reading):
        task.cancel()
    await asyncio.gather(waiting, reading, return_exceptions=True)
    async for _ in turn.events():
        break
    assert await session.history() == before
    await hands.answer(turn, "done")
    assert (await turn.wait(30)).status == "completed"


async def test_a_wait_can_be_for_anything_that_is_shown(session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT)
    waiting = asyncio.create_task(turn.wait(30, until={"pausing", "paused"}))
    await hands.ask_model(turn)
    await turn.pause()
    assert (await waiting).status == "pausing"
    await hands.answer(turn, "x")
    assert (await turn.wait(30)).status == "completed"


async def test_a_turn_nobody_submitted_is_not_waited_for(session: Session) -> None:
    turn = session.thread(AGENT).turn("t-0")
    with pytest.raises(NotFound):
        await turn.wait(30)
    with pytest.raises(NotFound):
        await _read(turn)


async def test_a_turn_cancelled_by_another_client_ends_for_every_subscriber(
    connect: Connect, session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    await hands.ask_model(turn)
    handles = [(await connect()).session("ann", "s").thread(AGENT).turn(turn.id) for _ in range(3)]
    readers = [asyncio.create_task(_read(handle)) for handle in (turn, *handles, *handles)]
    waiters = [asyncio.create_task(handle.wait(30)) for handle in handles]
    await handles[0].cancel()
    assert (await handles[1].status()).status == "cancelling"
    await hands.answer(turn, "too late to matter")
    async with asyncio.timeout(60):
        for entries in await asyncio.gather(*readers):
            assert isinstance(entries[-1].payload, Cancelled)
        assert {view.status for view in await asyncio.gather(*waiters)} == {"cancelled"}


async def _read(turn: Turn) -> list[Entry]:
    return [entry async for entry in turn.events()]
