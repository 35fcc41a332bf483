"""Streams with deltas: what a model says in between, without ids, and only for who asks for it and may."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.integration.client.asking import Event, events, http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from tests.integration.client.test_live import Mouth
from turnwright.client import Client, Turn
from turnwright.journal.driver import Driver

THREAD = f"/sessions/s/threads/{AGENT}/main"


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "admin")) as ask:
        yield ask


@pytest.fixture
async def turn(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> Turn:
    """A turn whose model is speaking."""
    turn = await client.turn((await submitted(ask))["turn_id"])
    await hands.ask_model(turn)
    return turn


async def until(stream: AsyncIterator[Event], name: str) -> list[Event]:
    """The events up to the next one of that name."""
    found: list[Event] = []
    async for event in stream:
        found.append(event)
        if event.name == name:
            break
    return found


@pytest.mark.parametrize("of", ["turn", "thread"])
async def test_deltas_have_no_id_and_the_entry_follows_them(
    ask: httpx2.AsyncClient, turn: Turn, hands: Hands, of: str
) -> None:
    mouth = Mouth(hands, turn)
    await mouth.say("It ")
    path = f"/turns/{turn.id}/events" if of == "turn" else f"{THREAD}/events"
    async with events(ask, path, deltas="true") as stream:
        first = await until(stream, "delta")
        assert [event.name for event in first] == ["snapshot", "delta"]
        await mouth.say("is.")
        (second,) = await until(stream, "delta")
        await hands.answer(turn, "It is.")
        (entry,) = await until(stream, "entry")
    said = [first[-1], second]
    assert [event.id for event in said] == ["", ""]
    expected = {"turn_id": turn.id, "step": 1, "ordinal": 1, "index": 0, "kind": "text"}
    assert [event.data for event in said] == [expected | {"text": "It "}, expected | {"text": "is."}]
    assert entry.data["type"] == "model.responded"
    assert int(entry.id) == int(first[0].id) + 1


@pytest.mark.parametrize("of", ["turn", "thread"])
async def test_who_comes_back_hears_what_was_said_as_one_delta(
    ask: httpx2.AsyncClient, turn: Turn, hands: Hands, of: str
) -> None:
    mouth = Mouth(hands, turn)
    path = f"/turns/{turn.id}/events" if of == "turn" else f"{THREAD}/events"
    async with events(ask, path, deltas="true") as stream:
        (snapshot,) = await until(stream, "snapshot")
        await mouth.say("It ")
        await until(stream, "delta")
    await mouth.say("is.")
    async with events(ask, path, deltas="true", last=snapshot.id) as stream:
        (delta,) = await until(stream, "delta")
    assert delta.data["text"] == "It is."


@pytest.mark.parametrize("of", ["turn", "thread"])
async def test_words_of_an_attempt_behind_the_entry_of_its_end_are_not_sent(
    ask: httpx2.AsyncClient, turn: Turn, hands: Hands, of: str
) -> None:
    straggler = Mouth(hands, turn)
    await straggler.say("Once")
    path = f"/turns/{turn.id}/events" if of == "turn" else f"{THREAD}/events"
    async with events(ask, path, deltas="true") as stream:
        await until(stream, "delta")
        await hands.fail_model(turn, "cut")
        assert (await until(stream, "entry"))[-1].data["type"] == "model.failed"
        await straggler.say(" upon")
        async with events(ask, path, deltas="true") as late:  # who has not seen the end is told, and gives time
            assert (await until(late, "delta"))[-1].data["text"] == "Once upon"
        await Mouth(hands, turn, ordinal=2).say("Anew")
        assert (await until(stream, "delta"))[-1].data["text"] == "Anew"


async def test_who_does_not_ask_for_deltas_gets_none_and_is_no_listener(
    ask: httpx2.AsyncClient, turn: Turn, hands: Hands
) -> None:
    await Mouth(hands, turn).say("It is.")
    async with events(ask, f"{THREAD}/events") as one, events(ask, f"/turns/{turn.id}/events") as two:
        for stream in (one, two):
            await until(stream, "snapshot")
        assert await hands.journal.deltas.listened({turn.key}) == frozenset()
        await hands.answer(turn, "It is.")
        for stream in (one, two):
            assert [event.name for event in await until(stream, "entry")] == ["entry"]


async def test_another_s_key_hears_nothing_and_makes_nobody_speak(
    url: str, driver: Driver, turn: Turn, hands: Hands
) -> None:
    await Mouth(hands, turn).say("a secret")
    for stranger in (await token(driver, "caller", user="bob"), await token(driver, "admin", tenant="other")):
        async with http(url, stranger) as ask:
            for path in (f"/turns/{turn.id}/events?deltas=true", f"{THREAD}/events?deltas=true", f"{THREAD}/said"):
                assert_problem(await ask.get(path), 404, "not_found")
    assert await hands.journal.deltas.listened({turn.key}) == frozenset()


async def test_a_place_that_can_be_none_is_refused(ask: httpx2.AsyncClient, turn: Turn) -> None:
    for place in ({"n": "-1"}, {"step": "x"}, {"ordinal": str(2**40)}, {"turn_id": "t" * 300}):
        assert_problem(await ask.get(f"{THREAD}/said", params=place), 422, "malformed")
