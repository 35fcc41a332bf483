"""A request with a briefing is a conversation that providers accept, and scripts play on as if it were not there."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from pydantic_ai.messages import ModelRequest as WireRequest
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from tests.unit.activities.models.test_conversation import MESSAGES, answered_calls, patiently, sent
from turnwright.activities.models.clients import Key, make_model
from turnwright.activities.models.port import ModelRequest
from turnwright.activities.models.script_position import find_script, next_play
from turnwright.activities.models.script_steps import parse_steps
from turnwright.journal.agent_state import AgentState
from turnwright.journal.briefing import briefing
from turnwright.journal.messages import Message, Text, ToolCall, ToolResult, user
from turnwright.journal.state_parts import PlanState
from turnwright.journal.view import request_messages

CALL = ToolCall(id="a", name="add", arguments={"x": 1})
CALLED = Message(role="assistant", blocks=(CALL,))
RESULT = Message(role="tool", blocks=(ToolResult(id="a", name="add", output=(Text(text="2"),)),))
PLANNING = PlanState(active=True, document='```json\n{"steps": [{"say": "from the plan"}]}\n```')


def state(*context: Message) -> AgentState:
    return AgentState(context=context, plan=PLANNING)


def test_behind_a_result_the_briefing_is_a_part_of_the_same_request() -> None:
    known = state(user("hi"), CALLED, RESULT)
    _, _, last = sent(*request_messages(known))
    assert isinstance(last, WireRequest)
    returned, briefed = last.parts
    assert isinstance(returned, ToolReturnPart)
    assert isinstance(briefed, UserPromptPart)
    assert briefed.content == briefing(known)


def test_behind_the_users_words_it_is_told_apart_by_its_heading() -> None:
    (only,) = sent(*request_messages(state(user("hi"))))
    (part,) = only.parts
    assert isinstance(part, UserPromptPart)
    assert part.content == f"hi\n\n{briefing(state())}"
    assert "written by the system and not by the user" in str(part.content)


@patiently
@given(MESSAGES)
def test_whatever_was_stored_the_request_still_alternates_and_ends_with_the_briefing(
    messages: tuple[Message, ...],
) -> None:
    wire = sent(*request_messages(state(*messages)))
    last = wire[-1]
    assert isinstance(last, WireRequest)
    assert isinstance(last.parts[-1], UserPromptPart)
    assert str(last.parts[-1].content).endswith(briefing(state()))
    assert all(calls == results for calls, results in answered_calls(wire))
    assert all(not (a.kind == b.kind == "request") for a, b in itertools.pairwise(wire))


STEPS: list[dict[str, Any]] = [{"say": "one"}, {"say": "two"}, {"say": "three"}]


@pytest.mark.parametrize(
    "context",
    [
        (user("hi"),),
        (user("hi"), CALLED, RESULT),
        (user("hi"), Message(role="assistant", blocks=(Text(text="one"),)), user("go on", input="steered")),
        (user("hi"), CALLED, RESULT, Message(role="assistant", blocks=(Text(text="one"),))),
    ],
)
def test_a_script_plays_what_it_would_play_without_the_briefing(context: tuple[Message, ...]) -> None:
    steps = parse_steps(STEPS)

    def played(*messages: Message) -> object:
        found = find_script(ModelRequest("scripted:x", messages=messages), steps)
        assert found is not None
        return next_play(found, messages, 1)

    view = request_messages(state(*context))
    assert played(*view) == played(*view[:-1])


async def test_an_openai_compatible_server_receives_it_as_the_last_message_of_a_user() -> None:
    model = make_model(Key("openai:x", "http://127.0.0.1:9/v1"))
    assert isinstance(model, OpenAIChatModel)
    wire = sent(*request_messages(state(user("hi"), CALLED, RESULT)))
    mapped = await model._map_messages(wire, ModelRequestParameters())
    assert [message["role"] for message in mapped] == ["user", "assistant", "tool", "user"]
    assert mapped[-1].get("content") == briefing(state())
