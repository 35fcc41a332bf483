"""Streams of a gateway: a snapshot, then every entry once and in order, whatever breaks in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import httpx2
import pytest

from tests.integration.client.asking import Event, events, http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import NOBODY_THERE
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from turnwright.client import Client, Turn
from turnwright.client.gateway import connections, feeds
from turnwright.client.gateway.events import PLACE_MAX
from turnwright.client.gateway.feeds import Feeds
from turnwright.client.remote.http import Http
from turnwright.client.remote.watch import RemoteWatch
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey
from turnwright.journal.store import Journal

THREADS = 64
TERMINAL = ("turn.completed", "turn.cancelled", "turn.failed")


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url, heartbeat_s=1)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "admin")) as ask:
        yield ask


async def turn_of(client: Client, ask: httpx2.AsyncClient, session: str = "s") -> Turn:
    return await client.turn((await submitted(ask, session))["turn_id"])


async def test_a_turns_stream_begins_with_what_is_so_and_ends_with_its_end(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await turn_of(client, ask)
    async with events(ask, f"/turns/{turn.id}/events") as stream:
        first = await anext(stream)
        assert (first.name, first.data["status"]) == ("snapshot", "queued")
        await hands.finish(turn)
        heard = [event async for event in stream]
    assert [event.name for event in heard[:-1]] == ["entry"] * (len(heard) - 1)
    assert heard[-2].data["type"] == "turn.completed"
    assert (heard[-1].name, heard[-1].data["status"]) == ("end", "completed")
    assert [event.data["seq"] for event in heard[:-1]] == [int(event.id) for event in heard[:-1]]
    assert int(heard[0].id) > int(first.id)


async def test_a_reader_that_comes_back_at_any_point_misses_nothing_and_gets_nothing_twice(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await turn_of(client, ask)
    await hands.finish(turn)
    paths = (f"/turns/{turn.id}/events", "/sessions/s/events", f"/sessions/s/threads/{AGENT}/main/events")
    for path in paths:
        whole = await entries_of(ask, path, 0, until=TERMINAL)
        places = [int(event.id) for event in whole]
        assert places == sorted(set(places))
        for place in range(places[-1]):
            rest = await entries_of(ask, path, place, until=TERMINAL)
            assert rest == [event for event in whole if int(event.id) > place], (path, place)


async def entries_of(ask: httpx2.AsyncClient, path: str, last: int, *, until: tuple[str, ...]) -> list[Event]:
    """The stream's entries behind a place, up to one of those types."""
    heard: list[Event] = []
    async with events(ask, path, last=last) as stream:
        async for event in stream:
            assert event.name == "entry"
            heard.append(event)
            entry = event.data.get("entry", event.data)
            if entry["type"] in until:
                break
    return heard


async def test_every_follower_of_a_session_gets_every_entry_of_all_its_threads_once(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some keep up, some begin late, and one is behind what is kept for those who keep up."""
    monkeypatch.setattr(feeds, "PIECES_KEPT_MAX", 20)
    session = client.session("ann", "s")
    await session.create()
    early = [asyncio.create_task(_positions(ask, 0)) for _ in range(3)]
    turns = await asyncio.gather(*(session.submit("x", agent=AGENT, thread=f"t{n}") for n in range(THREADS)))
    for turn in turns[: THREADS // 2]:
        await hands.finish(turn)
    late = asyncio.create_task(_positions(ask, 0))
    for turn in turns[THREADS // 2 :]:
        await hands.finish(turn)
    await session.close()
    last = (await session.status()).last_position
    for task in (*early, late):
        assert await task == list(range(1, last + 1))


async def _positions(ask: httpx2.AsyncClient, last: int) -> list[int]:
    """The positions a follower sees, up to the session's end."""
    return [int(e.id) for e in await entries_of(ask, "/sessions/s/events", last, until=("session.closed",))]


async def test_a_cancel_by_somebody_else_reaches_every_follower_as_the_end(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await turn_of(client, ask)
    await hands.ask_model(turn)

    async def followed() -> list[Event]:
        async with events(ask, f"/turns/{turn.id}/events") as stream:
            begun.release()
            return [event async for event in stream]

    begun = asyncio.Semaphore(0)
    following = [asyncio.create_task(followed()) for _ in range(5)]
    for _ in following:
        await begun.acquire()
    await turn.cancel()
    await hands.interrupt_model(turn)
    for heard in await asyncio.gather(*following):
        assert (heard[-1].name, heard[-1].data["status"]) == ("end", "cancelled")
    async with events(ask, f"/turns/{turn.id}/events", last=int(heard[-1].id)) as stream:
        assert [event.name async for event in stream] == ["end"]


async def test_a_follower_that_goes_away_is_nothing_that_a_turn_notices(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await turn_of(client, ask)
    for path in (f"/turns/{turn.id}/events", "/sessions/s/events", f"/sessions/s/threads/{AGENT}/main/events"):
        async with events(ask, path) as stream:
            await anext(stream)
    before = await turn.status()
    await hands.finish(turn)
    assert (before.status, (await turn.status()).status) == ("queued", "completed")


async def test_a_deleted_session_ends_the_streams_of_it(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    turn = await turn_of(client, ask)
    await hands.finish(turn)
    begun = asyncio.Semaphore(0)

    async def followed(path: str) -> list[Event]:
        async with events(ask, path) as stream:
            first = await anext(stream)
            begun.release()
            return [first, *[event async for event in stream]]

    thread = f"/sessions/s/threads/{AGENT}/main"
    paths = ("/sessions/s/events", f"{thread}/events", "/sessions/s/changes", f"{thread}/changes")
    following = [asyncio.create_task(followed(path)) for path in paths]
    for _ in following:
        await begun.acquire()
    await ask.delete("/sessions/s")
    for heard in await asyncio.gather(*following):
        assert (heard[-1].name, heard[-1].data) == ("end", {"reason": "session_deleted"})
    assert_problem(await ask.get("/sessions/s/events"), 404, "not_found")


async def test_a_reader_that_knows_more_than_the_journal_is_told_anew_what_is_so_and_then_goes_on(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await turn_of(client, ask)
    paths = (f"/turns/{turn.id}/events", "/sessions/s/events", f"/sessions/s/threads/{AGENT}/main/events")
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(events(ask, path, last=1_000)) for path in paths]
        told = [await anext(stream) for stream in streams]
        assert [event.name for event in told] == ["snapshot"] * 3
        await hands.finish(turn)
        for stream, snapshot in zip(streams, told, strict=True):
            following = await anext(stream)
            assert (following.name, int(following.id) > int(snapshot.id)) == ("entry", True)


async def test_what_cannot_be_a_place_is_refused_and_streams_are_bounded(journal_url: str, driver: Driver) -> None:
    bearer = await token(driver, "admin")
    async with serving(settings_of(journal_url, streams_max=2)) as url, http(url, bearer) as ask:
        await ask.put("/sessions/s", json={})
        for place in ("-1", "x", "1.5", "9" * 30, "٣", str(PLACE_MAX + 1)):
            refused = await ask.get("/sessions/s/events", headers=[(b"Last-Event-ID", place.encode())])
            assert_problem(refused, 400, "invalid_input")
            assert_problem(await ask.get("/sessions/s/events", params={"after": place}), 422, "malformed")
        async with events(ask, "/sessions/s/events", last="") as stream:
            assert (await anext(stream)).name == "snapshot"
        async with events(ask, "/sessions/s/events"), events(ask, "/sessions/s/events"):
            assert_problem(await ask.get("/sessions/s/events"), 429, "too_many_requests")
        while (answer := await _status(ask, "/sessions/s/events")) != httpx2.codes.OK:
            assert answer == httpx2.codes.TOO_MANY_REQUESTS


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_a_connection_too_many_is_answered_as_every_error_is_and_closed(
    journal_url: str, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 2)
    bearer = await token(driver, "admin")
    async with serving(settings_of(journal_url)) as url, http(url, bearer) as ask:
        await ask.put("/sessions/s", json={})
        async with events(ask, "/sessions/s/events"), events(ask, "/sessions/s/events"):
            answer = await ask.get("/me")
        assert_problem(answer, 503, "gateway_full")
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["Connection"] == "close"
        while await _status(ask, "/me") != httpx2.codes.OK:  # the streams' connections are not gone at once
            pass


async def _status(ask: httpx2.AsyncClient, path: str) -> int:
    async with ask.stream("GET", path) as answer:
        return answer.status_code


async def test_a_silent_stream_says_that_it_lives(ask: httpx2.AsyncClient) -> None:
    await ask.put("/sessions/s", json={})
    async with ask.stream("GET", "/sessions/s/events") as answer:
        lines = answer.aiter_lines()
        while not (await anext(lines)).startswith(":"):
            pass


async def test_a_thread_may_be_watched_before_it_is_there_but_not_in_a_session_that_is_not(
    ask: httpx2.AsyncClient,
) -> None:
    thread = f"/sessions/s/threads/{AGENT}/main"
    for path in (f"{thread}/changes", f"{thread}/events", "/sessions/s/changes", "/sessions/s/events"):
        assert await _status(ask, path) == httpx2.codes.NOT_FOUND, path
    assert_problem(await ask.get(f"{thread}/said"), 404, "not_found")
    await ask.put("/sessions/s", json={})
    async with events(ask, f"{thread}/changes", deltas=True) as stream:
        assert (await anext(stream)).name == "change"
        await submitted(ask)
        assert (await anext(stream)).name == "change"


async def test_a_cancel_that_comes_while_somebody_stops_following_is_not_lost(driver: Driver) -> None:
    http_of_nobody = Http(f"http://{NOBODY_THERE}", None)
    for follows in (
        Feeds(Journal(driver)).open(SessionKey("acme", "ann", "s"), 0),
        RemoteWatch(http_of_nobody, "/v1/sessions/s", {"user": "ann"}),
    ):
        leaving = asyncio.create_task(_left(follows))
        await asyncio.sleep(0)
        assert not leaving.done(), "it waits for what it has begun"
        leaving.cancel()
        await asyncio.wait([leaving])
        assert leaving.cancelled()
    await http_of_nobody.close()


async def _left(follows: AbstractAsyncContextManager[object]) -> None:
    async with follows:
        pass
