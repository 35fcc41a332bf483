"""Readers come and go anywhere and see every entry exactly once, in order."""

import asyncio

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Client, NotFound, PlaceLost, Session
from turnwright.journal.errors import InvalidInput

THREADS = 64


async def test_a_reader_of_a_turn_comes_back_at_any_cursor_without_gap_or_duplicate(
    session: Session, hands: Hands
) -> None:
    other = await session.submit("before it", agent=AGENT)
    turn = await session.submit("one", agent=AGENT)
    await hands.finish(other)
    call_id = await hands.call_tool(turn)
    await hands.finish_tool(turn, call_id)
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "done", step=2)
    whole = [entry async for entry in turn.events()]
    assert {entry.turn_id for entry in whole} == {turn.id}
    assert (whole[0].type, whole[-1].type) == ("turn.queued", "turn.completed")
    assert [entry.seq for entry in whole] == sorted({entry.seq for entry in whole})
    for cursor in range(whole[-1].seq + 1):
        behind = [entry async for entry in turn.events(cursor)]
        assert behind == [entry for entry in whole if entry.seq > cursor]


async def test_a_live_reader_that_reconnects_after_each_entry_sees_what_one_sees_that_stays(
    session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)

    async def stay() -> list[int]:
        return [entry.seq async for entry in turn.events()]

    async def reconnect() -> list[int]:
        seen: list[int] = []
        while True:
            before = len(seen)
            async for entry in turn.events(seen[-1] if seen else 0):
                seen.append(entry.seq)
                break
            if len(seen) == before:
                return seen

    reading = asyncio.gather(stay(), reconnect())
    await hands.ask_model(turn)
    await turn.pause()
    await hands.answer(turn, "done")
    async with asyncio.timeout(60):
        stayed, reconnected = await reading
    assert stayed == reconnected


async def test_events_go_on_through_a_retry_and_a_later_one_is_read_from_the_last_entry(
    session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    await hands.ask_model(turn)
    await hands.fail_model(turn, "auth")
    failed = [entry async for entry in turn.events()]
    assert failed[-1].type == "turn.failed"
    await turn.retry()
    await hands.claim(turn)
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "now", step=2)
    later = [entry.type async for entry in turn.events(failed[-1].seq)]
    assert (later[0], later[-1]) == ("turn.retried", "turn.completed")
    assert [entry.type async for entry in turn.events()] == [entry.type for entry in failed] + later


async def test_a_reader_that_tails_while_64_threads_commit_at_once_sees_every_entry_once(
    connect: Connect, session: Session
) -> None:
    writers = [(await connect()).session("ann", "s") for _ in range(2)]
    whole = 1 + 3 * THREADS
    positions: list[int] = []

    async def read() -> None:
        async for located in session.follow():
            positions.append(located.entry.position)
            if len(positions) == whole:
                return

    async def write(n: int) -> None:
        thread = writers[n % 2].thread(AGENT, f"thread {n}")
        turn = await thread.submit("one")
        await asyncio.gather(turn.steer("more"), turn.pause())

    async with asyncio.timeout(90):
        await asyncio.gather(read(), *(write(n) for n in range(THREADS)))
    assert positions == list(range(1, whole + 1))
    paged: list[int] = []
    while page := await session.history(paged[-1] if paged else 0, limit=7):
        paged += [located.entry.position for located in page]
    assert paged == positions


async def test_a_tailing_reader_comes_back_at_any_position(session: Session) -> None:
    turn = await session.submit("one", agent=AGENT)
    await turn.steer("two")
    await turn.cancel()
    whole = [located.entry.position for located in await session.history()]
    for cursor in range(len(whole)):
        seen: list[int] = []
        async for located in session.follow(cursor):
            seen.append(located.entry.position)
            if seen[-1] == whole[-1]:
                break
        assert seen == whole[cursor:]


async def test_what_does_not_exist_is_not_an_empty_history(client: Client, session: Session) -> None:
    stranger = client.session("ann", "other")
    with pytest.raises(NotFound):
        await stranger.history()
    with pytest.raises(NotFound):
        await anext(stranger.follow())
    with pytest.raises(NotFound):
        await session.thread(AGENT).history()
    with pytest.raises(NotFound):
        await session.thread(AGENT).state()
    with pytest.raises(NotFound):
        await stranger.threads()


async def test_a_state_is_that_of_the_entry_asked_for_and_none_of_the_future(session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT)
    await hands.finish(turn, "done")
    thread = session.thread(AGENT)
    whole = await thread.history()
    for entry in whole:
        assert (await thread.state(entry.seq)).as_of_seq == entry.seq
    assert [message.text for message in (await thread.state()).context] == ["one", "done"]
    with pytest.raises(InvalidInput, match=f"1 to {len(whole)}"):
        await thread.state(len(whole) + 1)


async def test_a_follower_of_the_python_client_that_knows_more_than_the_journal_is_told_so(
    client: Client, session: Session
) -> None:
    turn = await session.submit("one", agent=AGENT)
    last, seq = (await session.status()).last_position, (await session.thread(AGENT).status()).seq
    for follow, there in ((session.follow, last), (turn.events, seq), (turn.live, seq)):
        with pytest.raises(PlaceLost) as caught:
            await anext(follow(there + 1))
        assert caught.value.last == there
