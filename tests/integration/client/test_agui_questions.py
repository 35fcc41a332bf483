"""Questions of a turn over AG-UI: they end the run, and what the next one resumes with answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.integration.client.agui_front_end import (
    PATH,
    Event,
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
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, TOOL, Hands
from tests.integration.client.test_gateway_commands import assert_problem, token
from turnwright.client import Client, Turn
from turnwright.client.gateway.agui.run import RESUMED_MAX
from turnwright.journal.commands import Ask
from turnwright.journal.driver import Driver
from turnwright.journal.messages import ToolCall
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.view import SURROUNDINGS_VIEW, request_messages

SCHEMA = {"type": "object", "properties": {"answer": {"enum": ["red", "blue"]}}, "required": ["answer"]}


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


async def interrupted(ask: httpx2.AsyncClient, client: Client, asking: Hands, **arguments: Any) -> list[Event]:  # noqa: ANN401
    """A run that ends because its call needs an approval."""
    async with started(ask, run_input("r-1", said("pay"))) as events:
        await asking.want_tool(await turn_of(client), arguments=arguments or None)
        return await rest(events)


async def interrupted_by_a_child(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, hands: Hands
) -> tuple[Turn, Turn, str, list[Event]]:
    """A turn, its child, the child's call that needs an approval, and the turn's run that ends because of it."""
    async with started(ask, run_input("r-1", said("look it up"))) as events:
        turn = await turn_of(client)
        child = await client.turn(await hands.open_child(turn))
        return turn, child, await asking.want_tool(child, arguments={"n": 3}), await rest(events)


def entry_of(events: list[Event], status: str = "resolved", payload: object = None, n: int = 0) -> dict[str, Any]:
    """What answers the `n`-th interrupt of a run."""
    entry = {"interruptId": events[-1]["outcome"]["interrupts"][n]["id"], "status": status}
    return entry if payload is None else entry | {"payload": payload}


async def test_a_question_ends_the_run_and_its_answer_goes_on_with_the_turn(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    assert outcome(first) == "interrupt"
    [asked] = first[-1]["outcome"]["interrupts"]
    call_id = of(first, "TOOL_CALL_START")[0]["toolCallId"]
    assert (asked["reason"], asked["toolCallId"]) == ("tool_call", call_id)
    assert asked["responseSchema"]["required"] == ["approved"]
    resume = run_input("r-2", said("pay"), resume=[entry_of(first, payload={"approved": True})])
    turn = await turn_of(client)
    async with started(ask, resume) as events:
        await asking.claim(turn)
        await asking.start_tool(turn, call_id)
        await asking.finish_tool(turn, call_id, "paid")
        await asking.ask_model(turn, 2)
        await asking.answer(turn, "done", step=2)
        second = await rest(events)
    assert (outcome(second), text_of(second)) == ("success", "done")
    assert [event["content"] for event in of(second, "TOOL_CALL_RESULT")] == ["paid"]
    assert of(second, "TOOL_CALL_START") == [], "a call is told once"
    assert of(second, "MESSAGES_SNAPSHOT")[0]["messages"][-1]["toolCalls"][0]["id"] == call_id
    assert len((await client.turns()).items) == 1


async def test_a_question_that_is_given_up_is_a_denial_and_told_as_the_calls_result(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    turn = await turn_of(client)
    async with started(ask, run_input("r-2", resume=[entry_of(first, "cancelled")])) as events:
        await asking.claim(turn)
        await asking.ask_model(turn, 2)
        await asking.answer(turn, "as you like", step=2)
        second = await rest(events)
    [result] = of(second, "TOOL_CALL_RESULT")
    assert result["metadata"] == {"turnwright": {"outcome": "denied"}}
    assert (outcome(second), text_of(second)) == ("success", "as you like")


async def test_what_a_front_end_shows_when_it_only_answers_reaches_the_model_once_it_is_something_else(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    async with started(ask, run_input("r-1", said("pay")) | {"context": page("order 5")}) as events:
        await asking.want_tool(await turn_of(client))
        first = await rest(events)
    turn = await turn_of(client)
    for n, shows in enumerate(("order 5", "order 6", "order 6")):
        resume = run_input(f"r-{n}", said("pay"), resume=[entry_of(first, "cancelled")])
        async with started(ask, resume | {"context": page(shows)}):
            assert len((await turn.report()).steered) == min(n, 1)
    last = run_input("r-3", said("pay"), resume=[entry_of(first, "cancelled")])
    async with started(ask, last) as events:
        await asking.claim(turn)
        await asking.ask_model(turn, 2)
        state = await client.session("ann", "s").thread(AGENT).state()
        [told] = [message.text for message in request_messages(state) if SURROUNDINGS_VIEW in message.text]
        assert told.endswith("- the page: order 6")
        await asking.answer(turn, "as you like", step=2)
        heard = await rest(events)
    assert [role for role, _ in messages(heard)].count("user") == 1, "it is nothing that the person said"


def page(value: str) -> list[dict[str, str]]:
    return [{"description": "the page", "value": value}]


async def test_arguments_that_the_person_changed_are_told_in_a_new_snapshot(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking, n=3)
    assert [event["delta"] for event in of(first, "TOOL_CALL_ARGS")] == ['{"n":3}']
    answer = entry_of(first, payload={"approved": True, "editedArgs": {"n": 1}})
    async with started(ask, run_input("r-2", resume=[answer])) as events:
        await (await turn_of(client)).cancel()
        await asking.look(await turn_of(client))
        second = await rest(events)
    before, after = of(second, "MESSAGES_SNAPSHOT")
    shown = [snapshot["messages"][-1]["toolCalls"][0]["function"]["arguments"] for snapshot in (before, after)]
    assert shown == ['{"n":3}', '{"n":1}']
    assert outcome(second) == "cancelled"


async def test_a_form_is_answered_with_what_fits_it(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    async with started(ask, run_input("r-1", said("paint"))) as events:
        turn = await turn_of(client)
        await hands.defer_tool(turn, await hands.call_tool(turn), Ask("form", {"prompt": "which?", "schema": SCHEMA}))
        first = await rest(events)
    [asked] = first[-1]["outcome"]["interrupts"]
    assert (asked["reason"], asked["message"], asked["responseSchema"]) == ("input_required", "which?", SCHEMA)
    wrong = await ask.post(PATH, json=run_input("r-2", resume=[entry_of(first, payload={"answer": "green"})]))
    assert_problem(wrong, 422, "bad_answer")
    async with started(ask, run_input("r-3", resume=[entry_of(first, payload="red")])) as events:
        await hands.claim(turn)
        await hands.ask_model(turn, 2)
        await hands.answer(turn, "red it is", step=2)
        second = await rest(events)
    assert "red" in of(second, "TOOL_CALL_RESULT")[0]["content"]
    assert text_of(second) == "red it is"


async def test_a_run_waits_on_until_every_question_of_it_is_answered(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    async with started(ask, run_input("r-1", said("pay both"))) as events:
        turn = await turn_of(client)
        await asking.ask_model(turn)
        calls = (ToolCall(id=name, name=TOOL.name, arguments={"n": n}) for n, name in enumerate("ab"))
        await asking.answer(turn, *calls)
        first = await rest(events)
    assert len(first[-1]["outcome"]["interrupts"]) == 2
    second = await run(ask, run_input("r-2", resume=[entry_of(first, "cancelled")]))
    assert [one["id"] for one in second[-1]["outcome"]["interrupts"]] == [first[-1]["outcome"]["interrupts"][1]["id"]]
    assert len(of(second, "TOOL_CALL_RESULT")) == 1


async def test_an_answer_that_comes_too_late_is_said_to_be_ignored_and_the_turn_is_told_on(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    turn = await turn_of(client)
    await turn.deny(first[-1]["outcome"]["interrupts"][0]["id"], principal="bob")
    unknown = {"interruptId": "q-none", "status": "cancelled"}
    async with started(ask, run_input("r-2", resume=[entry_of(first, payload=True), unknown])) as events:
        await asking.claim(turn)
        await asking.ask_model(turn, 2)
        await asking.answer(turn, "not paid", step=2)
        second = await rest(events)
    ignored = [event["value"]["code"] for event in of(second, "CUSTOM")]
    assert sorted(ignored) == ["already_answered", "unknown_interaction"]
    assert (outcome(second), text_of(second)) == ("success", "not paid")


async def test_a_message_that_comes_along_with_an_answer_reaches_the_turn(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    turn = await turn_of(client)
    given = run_input("r-2", said("pay"), said("cash only", "m-2"), resume=[entry_of(first, "cancelled")])
    async with started(ask, given) as events:
        await asking.claim(turn)
        await asking.ask_model(turn, 2)
        await asking.answer(turn, "cash, then", step=2)
        second = await rest(events)
    assert ("user", "cash only") in messages(second)
    assert len((await turn.report()).steered) == 1
    again = await run(ask, given)
    assert (text_of(again), len((await turn.report()).steered)) == ("cash, then", 1)


@pytest.mark.parametrize("always", ["another(n=1)", "(", 5])
async def test_a_run_whose_answer_is_refused_changes_nothing_of_what_came_along(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, always: object
) -> None:
    async with started(ask, run_input("r-1", said("pay both"))) as events:
        turn = await turn_of(client)
        await asking.ask_model(turn)
        await asking.answer(turn, *(ToolCall(id=name, name=TOOL.name, arguments={}) for name in "ab"))
        first = await rest(events)
    answers = [entry_of(first, payload=True), entry_of(first, payload={"approved": True, "always": always}, n=1)]
    given = run_input("r-2", said("pay both"), said("in cash", "m-2"), resume=answers)
    before = (await client.session("ann", "s").thread(AGENT).status()).seq
    assert_problem(await ask.post(PATH, json=given), 422, "bad_answer" if always == 5 else "bad_rule")
    assert (await client.session("ann", "s").thread(AGENT).status()).seq == before
    assert len(await turn.questions()) == 2
    async with started(ask, given | {"resume": [entry_of(first, payload=True), entry_of(first, payload=True, n=1)]}):
        assert await turn.questions() == ()


async def test_a_message_for_a_turn_that_has_ended_meanwhile_is_said_to_be_ignored(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    turn = await turn_of(client)
    await turn.cancel()
    await asking.look(turn)
    answer = entry_of(first, payload=True)
    heard = await run(ask, run_input("r-2", said("pay"), said("cash only", "m-2"), resume=[answer]))
    ignored = [event["value"] for event in of(heard, "CUSTOM")]
    assert [one.get("messageId", one.get("interruptId")) for one in ignored] == ["m-2", answer["interruptId"]]
    assert outcome(heard) == "cancelled"


async def test_what_became_of_a_call_is_said_by_who_may_say_it(
    url: str, ask: httpx2.AsyncClient, client: Client, driver: Driver, hands: Hands
) -> None:
    hold = await driver.hold_presence("w-mortal", {}, lease_s=60)
    async with started(ask, run_input("r-1", said("pay"))) as events:
        turn = await turn_of(client)
        await Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal").call_tool(turn)
        await hold.release()
        await hands.claim(turn)
        first = await rest(events)
    [asked] = first[-1]["outcome"]["interrupts"]
    assert (asked["reason"], asked["metadata"]["turnwright"]["arguments"]) == ("turnwright:unknown_outcome", {"n": 1})
    known = {"outcome": "succeeded", "output": "paid", "reason": "it is in the ledger"}
    given = run_input("r-2", resume=[entry_of(first, payload=known)])
    async with http(url, await token(driver, "caller")) as caller:
        assert_problem(await caller.post(PATH, json=given | {"messages": [said("and now?", "m-9")]}), 403, "forbidden")
    assert (await turn.report()).steered == ()
    many = run_input("r-2", resume=[entry_of(first, payload=known)] * (RESUMED_MAX + 1))
    assert_problem(await ask.post(PATH, json=many), 400, "invalid_input")
    async with started(ask, given) as events:
        await hands.claim(turn)
        await hands.ask_model(turn, 2)
        await hands.answer(turn, "it was paid", step=2)
        second = await rest(events)
    assert [event["content"] for event in of(second, "TOOL_CALL_RESULT")] == ["paid"]
    assert (text_of(second), outcome(second)) == ("it was paid", "success")


async def test_a_turn_behind_one_that_waits_is_stopped_by_its_question(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    second = await run(ask, run_input("r-2", said("and then?", "m-2")))
    assert second[-1]["outcome"] == first[-1]["outcome"]
    assert (await (await turn_of(client, "r-2")).status()).status == "queued"


async def test_a_resumed_run_asked_for_again_is_told_again_from_the_answer_on(
    ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    turn = await turn_of(client)
    given = run_input("r-2", resume=[entry_of(first, payload=False)])
    async with started(ask, given) as events:
        await asking.claim(turn)
        await asking.ask_model(turn, 2)
        await asking.answer(turn, "no", step=2)
        second = await rest(events)
    assert await run(ask, given) == second
    assert of(second, "CUSTOM") == []


async def test_a_run_reaches_no_more_than_its_credential(
    url: str, ask: httpx2.AsyncClient, client: Client, driver: Driver, asking: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    resume = run_input("r-2", resume=[entry_of(first, payload=True)])
    async with http(url) as nobody:
        assert_problem(await nobody.post(PATH, json=resume), 401, "unauthenticated")
    async with http(url, await token(driver, "caller", user="ben")) as other:
        await other.put("/sessions/s", json={})
        assert_problem(await other.post(PATH, json=resume), 404, "not_found")
    async with http(url, await token(driver, "admin", "umbrella")) as other:
        assert_problem(await other.post(PATH, json=run_input("r-1", said("hello"))), 404, "unknown_session")
    assert (await (await turn_of(client)).status()).status == "waiting"


async def test_what_a_child_asks_ends_the_run_of_its_parent_and_is_answered_there(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, hands: Hands
) -> None:
    turn, child, call_id, first = await interrupted_by_a_child(ask, client, asking, hands)
    assert outcome(first) == "interrupt"
    [asked] = first[-1]["outcome"]["interrupts"]
    assert asked["toolCallId"] == of(first, "TOOL_CALL_START")[0]["toolCallId"], "a call that the front end was told of"
    told = asked["metadata"]["turnwright"]
    assert (told["turn_id"], told["agent"], told["arguments"]) == (child.id, AGENT, {"n": 3})
    resume = run_input("r-2", said("look it up"), said("and be quick", "m-2"), resume=[entry_of(first, payload=True)])
    async with started(ask, resume) as events:
        assert await turn.questions() == ()
        await asking.claim(child)
        await asking.start_tool(child, call_id)
        await asking.finish_tool(child, call_id, "found")
        await asking.ask_model(child, 2)
        await asking.answer(child, "it is blue", step=2)
        await hands.take_in(turn.key)
        await hands.claim(turn)
        await hands.ask_model(turn, 2)
        await hands.answer(turn, "blue", step=2)
        second = await rest(events)
    assert [event["content"] for event in of(second, "TOOL_CALL_RESULT")] == ["it is blue"]
    assert (text_of(second), outcome(second), of(second, "CUSTOM")) == ("blue", "success", [])
    assert await run(ask, resume) == second, "asked for again it is told again"


async def test_a_run_that_only_answers_a_child_is_told_again_from_where_it_began(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, hands: Hands
) -> None:
    turn, *_, first = await interrupted_by_a_child(ask, client, asking, hands)
    await hands.finish(await client.session("ann", "s").submit("something else", agent=AGENT, thread="other"))
    resume = run_input("r-2", said("look it up"), resume=[entry_of(first, payload=True)])
    async with started(ask, resume) as events:
        await turn.cancel()
        second = await rest(events)
    assert outcome(second) == "cancelled"
    assert await run(ask, resume) == second


async def test_an_answer_to_a_child_that_is_refused_leaves_the_parent_undone_and_may_be_given_again(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, hands: Hands
) -> None:
    turn, *_, first = await interrupted_by_a_child(ask, client, asking, hands)
    wrong = entry_of(first, payload={"approved": True, "always": "another(n=1)"})
    given = run_input("r-2", said("look it up"), said("and be quick", "m-2"), resume=[wrong])
    assert_problem(await ask.post(PATH, json=given), 422, "bad_rule")
    assert (await turn.report()).steered == ()
    async with started(ask, given | {"resume": [entry_of(first, payload=True)]}):
        assert (len((await turn.report()).steered), await turn.questions()) == (1, ())


async def test_what_no_child_of_the_thread_asked_is_not_answered_there(
    ask: httpx2.AsyncClient, client: Client, asking: Hands, hands: Hands
) -> None:
    first = await interrupted(ask, client, asking)
    other = await client.session("ann", "s").thread(AGENT, "other").submit("look it up")
    child = await client.turn(await hands.open_child(other))
    await asking.want_tool(child)
    [question] = await other.questions()
    entries = [{"interruptId": question.interaction_id, "status": "cancelled"}, entry_of(first, "cancelled")]
    assert_problem(await ask.post(PATH, json=run_input("r-2", resume=entries[:1])), 404, "not_found")
    async with started(ask, run_input("r-3", resume=entries)) as events:
        ignored = await until(events, "CUSTOM")
    assert ignored[-1]["value"]["code"] == "unknown_interaction"
    assert (await client.interaction(question.interaction_id)).state == "open"
