"""The validator of AG-UI against a running gateway: what a turn can do is told without an error or a warning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

import pytest
from ag_ui_validate.transport import (
    TransportError,
    TransportOptions,
    TransportResponseLike,
    TransportResult,
    validate_endpoint,
)
from ag_ui_validate.types import ValidatorOptions

from tests.integration.client.agui_front_end import PATH, run_input, said
from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import Hands
from tests.integration.client.test_gateway_commands import token
from turnwright.client import Client, Turn
from turnwright.journal.driver import Driver
from turnwright.journal.messages import Text, Thinking, ToolCall

LOOK_S = 0.01
# Told all at once after a wait, a short run may arrive in one piece, which is what that rule is about.
OPTIONS = ValidatorOptions(features=["shared-state"], severity_overrides={"AGUI507": "off"})
Play: TypeAlias = Callable[[Hands, Turn], Awaitable[None]]
Validate: TypeAlias = Callable[..., Coroutine[Any, Any, TransportResult]]


@pytest.fixture
async def validate(driver: Driver, journal_url: str) -> AsyncIterator[Validate]:
    """Let the validator ask a gateway for a run, as it does by itself if nothing else is said."""
    bearer = await token(driver, "admin")
    async with serving(settings_of(journal_url)) as url, http(url, bearer) as ask:
        await ask.put("/sessions/s", json={})

        async def fetch(target: str, **given: Any) -> TransportResponseLike:  # noqa: ANN401 - as the validator gives it
            request = ask.build_request(given["method"], target, headers=given["headers"], content=given["body"])
            answer = await ask.send(request, stream=True)
            return TransportResponseLike(answer.status_code, answer.headers, answer.aiter_bytes())

        async def validate(given: dict[str, Any] | None = None) -> TransportResult:
            options = TransportOptions(validator=OPTIONS, input=given, fetch_impl=fetch)
            return await validate_endpoint(f"{url}/v1{PATH}", options)

        yield validate


async def a_plain_answer(hands: Hands, turn: Turn) -> None:
    await hands.ask_model(turn)
    await hands.answer(turn, Thinking(text="hm"), "Hello ", "there.")


async def a_call_and_its_result(hands: Hands, turn: Turn) -> None:
    call_id = await hands.call_tool(turn)
    await hands.finish_tool(turn, call_id, "3")
    await hands.ask_model(turn, 2)
    await hands.answer(turn, Text(text="three"), step=2)


async def several_calls_of_which_one_is_none(hands: Hands, turn: Turn) -> None:
    await hands.ask_model(turn)
    await hands.answer(turn, ToolCall(id="a", name="ledger", arguments={"n": 1}), ToolCall(id="b", name="no such tool"))
    await turn.cancel()
    await hands.look(turn)


async def a_failure(hands: Hands, turn: Turn) -> None:
    await hands.ask_model(turn)
    await hands.fail_model(turn, "auth")


async def a_cancel(hands: Hands, turn: Turn) -> None:
    await hands.ask_model(turn)
    await turn.cancel()
    await hands.interrupt_model(turn)


PLAYS: tuple[Play, ...] = (
    a_plain_answer,
    a_call_and_its_result,
    several_calls_of_which_one_is_none,
    a_failure,
    a_cancel,
)


async def test_whatever_becomes_of_a_turn_its_run_conforms(validate: Validate, client: Client, hands: Hands) -> None:
    for play in PLAYS:
        running = asyncio.create_task(validate())
        await play(hands, await queued(client, running))
        assert_clean(await running)


async def test_an_interrupted_run_and_the_one_that_resumes_it_conform(
    validate: Validate, client: Client, asking: Hands
) -> None:
    running = asyncio.create_task(validate(run_input("r-1", said("pay"))))
    turn = await queued(client, running)
    await asking.want_tool(turn)
    assert_clean(await running)
    [question] = await turn.questions()
    entry = {"interruptId": question.interaction_id, "status": "cancelled"}
    running = asyncio.create_task(validate(run_input("r-2", resume=[entry])))
    while await turn.questions():
        await asyncio.sleep(LOOK_S)
    await asking.claim(turn)
    await asking.ask_model(turn, 2)
    await asking.answer(turn, "fine", step=2)
    assert_clean(await running)


async def test_a_run_that_is_refused_is_none_to_the_validator(validate: Validate) -> None:
    with pytest.raises(TransportError, match="HTTP 400"):
        await validate({**run_input("r-1"), "messages": []})


async def queued(client: Client, running: asyncio.Task[TransportResult]) -> Turn:
    """The turn that the run has submitted."""
    while not (waiting := (await client.turns(status="queued")).items):
        assert not running.done(), running.result()
        await asyncio.sleep(LOOK_S)
    return await client.turn(waiting[0].status.turn_id)


def assert_clean(result: TransportResult) -> None:
    found = [f"{one.rule} {one.severity}: {one.message}" for one in result.report.diagnostics if one.severity != "info"]
    assert (found, result.transport_error) == ([], None)
    assert result.event_count > 3
