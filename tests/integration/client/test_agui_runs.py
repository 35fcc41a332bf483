"""AG-UI over HTTP: a run is a turn, told as often as it is asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx2
import pytest
from ag_ui.core import RunErrorEvent

from tests.integration.client.agui_front_end import (
    PATH,
    kinds,
    messages,
    of,
    outcome,
    rest,
    run,
    run_input,
    said,
    started,
    text_of,
    turn_id,
    until,
)
from tests.integration.client.asking import http
from tests.integration.client.conftest import Connect
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, TOOL, Hands
from tests.integration.client.test_gateway_commands import assert_problem, token
from tests.integration.client.test_live import Mouth
from turnwright.client import Client, Turn
from turnwright.client.gateway.agui.run import Run
from turnwright.client.gateway.agui.telling import tell
from turnwright.journal.driver import Driver
from turnwright.journal.messages import Thinking
from turnwright.journal.view import SURROUNDINGS_VIEW, offered_tools, request_messages


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url, heartbeat_s=1)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "admin")) as ask:
        await ask.put("/sessions/s", json={})
        yield ask


async def turn_of(client: Client, run_id: str = "r-1") -> Turn:
    return await client.turn(turn_id(run_id))


async def test_a_run_is_told_from_its_start_to_its_end(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    async with started(ask, run_input("r-1", said("an old one", "m-0"), said("hello"))) as events:
        turn = await turn_of(client)
        await hands.ask_model(turn)
        await hands.answer(turn, Thinking(text="hm"), "Hi ", "there.")
        heard = await rest(events)
    assert kinds(heard)[:3] == ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "STEP_STARTED"]
    assert messages(heard) == [("user", "hello")], "what a front end sends along is its copy"
    assert (text_of(heard), outcome(heard)) == ("Hi there.", "success")
    assert [event["delta"] for event in of(heard, "REASONING_MESSAGE_CONTENT")] == ["hm"]
    assert heard[-1]["usage"][0]["totalTokens"] == 10
    assert (await turn.result()).text == "Hi there."


async def test_words_are_told_as_they_are_spoken(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    async with started(ask, run_input("r-1", said("hello"))) as events:
        turn = await turn_of(client)
        await hands.ask_model(turn)
        mouth = Mouth(hands, turn)
        await mouth.say("Hi ")
        spoken = await until(events, "TEXT_MESSAGE_CONTENT")
        assert spoken[-1]["delta"] == "Hi "
        await hands.answer(turn, "Hi there.")
        heard = spoken + await rest(events)
    assert (text_of(heard), outcome(heard)) == ("Hi there.", "success")
    assert len(of(heard, "TEXT_MESSAGE_START")) == 1
    assert {event["messageId"] for event in of(heard, "TEXT_MESSAGE_CONTENT")} == {
        (await turn.status()).row.output_message
    }


async def test_the_conversation_so_far_comes_first_under_the_ids_the_front_end_knows(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    async with started(ask, run_input("r-1", said("one"))) as events:
        await hands.finish(await turn_of(client), "first")
        before = await rest(events)
    async with started(ask, run_input("r-2", said("one"), said("two", "m-2"))) as events:
        await hands.finish(await turn_of(client, "r-2"), "second")
        heard = await rest(events)
    assert messages(heard) == [("user", "one"), ("assistant", "first"), ("user", "two")]
    ids = [message["id"] for message in of(heard, "MESSAGES_SNAPSHOT")[0]["messages"]]
    assert ids == ["m-1", of(before, "TEXT_MESSAGE_START")[0]["messageId"], "m-2"]
    assert text_of(heard) == "second"


async def test_a_call_is_told_with_its_result(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    async with started(ask, run_input("r-1", said("count"))) as events:
        turn = await turn_of(client)
        call_id = await hands.call_tool(turn)
        await hands.finish_tool(turn, call_id, "3")
        await hands.ask_model(turn, 2)
        await hands.answer(turn, "three", step=2)
        heard = await rest(events)
    [begun], [result] = of(heard, "TOOL_CALL_START"), of(heard, "TOOL_CALL_RESULT")
    assert (begun["toolCallId"], begun["toolCallName"], result["toolCallId"]) == (call_id, TOOL.name, call_id)
    assert (result["content"], text_of(heard), outcome(heard)) == ("3", "three", "success")
    assert [event["stepName"] for event in of(heard, "STEP_FINISHED")] == ["step 1", "step 2"]


async def test_a_turn_that_waited_behind_another_is_told_with_what_that_said(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    before = await client.session("ann", "s").submit("one", agent=AGENT)
    async with started(ask, run_input("r-2", said("two", "m-2"))) as events:
        await hands.finish(before, "first")
        await hands.finish(await turn_of(client, "r-2"), "second")
        heard = await rest(events)
    assert messages(heard) == [("user", "one"), ("assistant", "first"), ("user", "two")]
    assert text_of(heard) == "second"


async def test_a_cancel_is_told_as_one_with_what_had_been_said(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    given = run_input("r-1", said("hello"))
    async with started(ask, given) as events:
        turn = await turn_of(client)
        await hands.ask_model(turn)
        await turn.cancel()
        await hands.interrupt_model(turn)
        heard = await rest(events)
    assert outcome(heard) == "cancelled"
    assert of(heard, "STEP_FINISHED")
    del given["protocolVersion"]
    assert (await run(ask, given))[-1]["type"] == "RUN_ERROR", "a front end from before 1.0 knows no cancelled run"


async def test_a_failed_turn_ends_its_run_with_an_error_and_a_retry_is_told_when_it_is_asked_for_again(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    given = run_input("r-1", said("hello"))
    async with started(ask, given) as events:
        turn = await turn_of(client)
        await hands.ask_model(turn)
        await hands.fail_model(turn, "auth")
        heard = await rest(events)
    assert heard[-1]["type"] == "RUN_ERROR"
    assert (heard[-1]["code"], heard[-1]["message"]) == ((await turn.status()).code, (await turn.status()).message)
    assert [kinds(await run(ask, given))[-1] for _ in range(2)] == ["RUN_ERROR"] * 2
    await turn.retry()
    async with started(ask, given) as events:
        await hands.ask_model(turn, 2)
        await hands.answer(turn, "at last", step=2)
        again = await rest(events)
    assert (text_of(again), outcome(again)) == ("at last", "success")


async def test_the_same_run_asked_for_again_is_the_same_turn_told_again(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    given = run_input("r-1", said("hello"))
    async with started(ask, given) as left:
        await anext(left)
    turn = await turn_of(client)
    assert (await turn.status()).status == "queued", "nobody listens, and the turn does not notice"
    async with started(ask, given) as one, started(ask, given) as other:
        await hands.finish(turn, "hi")
        heard = await asyncio.gather(rest(one), rest(other))
    assert heard[0] == heard[1] == await run(ask, given)
    assert text_of(heard[0]) == "hi"
    assert len((await client.turns()).items) == 1
    assert_problem(await ask.post(PATH, json=run_input("r-1", said("something else"))), 409, "request_id_reused")


def body(**given: object) -> bytes:
    return json.dumps({**run_input("r-1", said("x")), **given}).encode()


REFUSED = (
    (b"no json", 422, "malformed"),
    (b"{}", 422, "malformed"),
    (body(runId=5), 422, "malformed"),
    (body(messages=[{"role": "user"}]), 422, "malformed"),
    (body(messages=[said("x") | {"role": "bard"}]), 422, "malformed"),
    (body(messages=[]), 400, "invalid_input"),
    (body(messages=[said(" ")]), 400, "invalid_input"),
    (body(runId=""), 400, "invalid_input"),
    (body(runId="r\0"), 400, "invalid_input"),
    (body(resume=[{"interruptId": "q", "status": "maybe"}]), 422, "malformed"),
    (body(resume=[{"interruptId": "q", "status": "cancelled"}]), 404, "not_found"),
)


async def test_what_cannot_be_a_run_is_refused_before_there_is_one(ask: httpx2.AsyncClient, client: Client) -> None:
    for sent, status, code in REFUSED:
        answer = await ask.post(PATH, content=sent, headers={"Content-Type": "application/json"})
        assert_problem(answer, status, code)
    assert (await client.turns()).items == ()


async def test_a_session_that_is_deleted_meanwhile_ends_the_run_with_an_error(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    async with started(ask, run_input("r-1", said("hello"))) as events:
        await anext(events)
        await ask.post("/sessions/s/cancel")
        assert (await ask.delete("/sessions/s")).status_code == httpx2.codes.OK
        heard = await rest(events)
    assert heard[-1]["type"] in ("RUN_ERROR", "RUN_FINISHED")


async def test_what_fails_in_the_middle_of_a_run_is_told_as_its_error_and_the_turn_goes_on(
    client: Client, connect: Connect, hands: Hands
) -> None:
    await client.session("ann", "s").create()
    turn = await client.session("ann", "s").submit("hello", agent=AGENT)
    other = await connect()
    telling = tell(other._access.backend, Run(turn.key, turn.id, "th-1", "r-1", 1))
    assert [str((await anext(telling)).type.value) for _ in range(3)][-1] == "STATE_SNAPSHOT"
    await other.close()
    [last] = [event async for event in telling]
    assert isinstance(last, RunErrorEvent)
    assert last.code == "store_unavailable"
    await hands.finish(turn)
    assert (await turn.status()).status == "completed"


async def test_what_a_front_end_shows_reaches_the_model_with_the_message_and_its_tools_are_said_to_be_ignored(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    tool = {"name": "open_page", "description": "Opens a page.", "parameters": {"type": "object"}}
    given = run_input("r-1", said("what do I see?")) | {
        "context": [{"description": "the page", "value": "order 5"}],
        "tools": [tool],
    }
    async with started(ask, given) as events:
        turn = await turn_of(client)
        await hands.ask_model(turn)
        state = await client.session("ann", "s").thread(AGENT).state()
        (sent,) = request_messages(state)
        assert sent.text == f"what do I see?{SURROUNDINGS_VIEW}\n- the page: order 5"
        assert "open_page" not in {tool.name for tool in offered_tools(state)}
        await hands.answer(turn, "Order 5.")
        heard = await rest(events)
    assert messages(heard) == [("user", "what do I see?")], "it is not what the person said"
    [ignored] = of(heard, "CUSTOM")
    assert (ignored["name"], ignored["value"]["tools"]) == ("turnwright.tools_ignored", ["open_page"])
    assert ignored["value"]["reason"]
    assert (text_of(heard), outcome(heard)) == ("Order 5.", "success")
