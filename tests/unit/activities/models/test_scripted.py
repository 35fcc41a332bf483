"""Scripts: the same step for the same conversation, whoever plays it."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from turnwright.activities.models.port import FailureClass, ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.activities.models.script_position import turn_start
from turnwright.activities.models.scripted import Call, CallSpec, Delay, Fail, Say, ScriptedModel, Silent, script
from turnwright.journal.agent_state import AgentState
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Message, Text, Thinking, ToolCall, ToolResult, user
from turnwright.journal.view import request_messages

MODEL = ScriptedModel()


def request(*messages: Message, steps: list[dict[str, Any]] | None = None, attempt: int = 1) -> ModelRequest:
    settings = {} if steps is None else {"steps": steps}
    return ModelRequest("scripted:test", "Be brief.", messages or (user("hi"),), settings=settings, attempt=attempt)


async def play(*messages: Message, steps: list[dict[str, Any]] | None = None, attempt: int = 1) -> ModelResponse:
    return await MODEL.respond(request(*messages, steps=steps, attempt=attempt), Partial())


async def failing(*messages: Message, steps: list[dict[str, Any]] | None = None, attempt: int = 1) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await play(*messages, steps=steps, attempt=attempt)
    return caught.value


def said(response: ModelResponse) -> str:
    return "".join(block.text for block in response.blocks if isinstance(block, Text))


def assistant(response: ModelResponse) -> Message:
    return Message(role="assistant", blocks=response.blocks)


def results(response: ModelResponse, *texts: str) -> Message:
    calls = [block for block in response.blocks if isinstance(block, ToolCall)]
    answered = zip(calls, texts, strict=True)
    return Message(
        role="tool", blocks=tuple(ToolResult(id=c.id, name=c.name, output=(Text(text=t),)) for c, t in answered)
    )


WORK: list[dict[str, Any]] = [
    {"call": [{"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": {"a": 2}}], "say": "Adding."},
    {"say": "Done: {result}."},
]


async def test_a_script_is_played_step_by_step_and_then_ends() -> None:
    asked = user("go")
    first = await play(asked, steps=WORK)
    assert first.finish_reason == "tool_call"
    assert [block.type for block in first.blocks] == ["text", "tool_call", "tool_call"]
    second = await play(asked, assistant(first), results(first, "1", "2"), steps=WORK)
    assert (said(second), second.finish_reason) == ("Done: 1; 2.", "stop")
    conversation = (asked, assistant(first), results(first, "1", "2"), assistant(second))
    assert said(await play(*conversation, user("again"), steps=WORK)) == "Adding."


async def test_a_step_is_the_same_for_every_attempt_and_every_process() -> None:
    asked = request(user("go"), steps=WORK)
    first = await MODEL.respond(asked, Partial())
    assert await MODEL.respond(replace(asked, attempt=2), Partial()) == first
    code = (
        "import asyncio, json, sys\n"
        "from turnwright.activities.models.router import Models\n"
        "from turnwright.activities.models.port import ModelRequest, Partial\n"
        "from turnwright.journal.messages import user\n"
        "settings = {'steps': json.loads(sys.argv[1])}\n"
        "asked = ModelRequest('scripted:test', 'Be brief.', (user('go'),), settings=settings)\n"
        "response = asyncio.run(Models().respond(asked, Partial()))\n"
        "print(json.dumps([block.model_dump() for block in response.blocks]))\n"
        "assert 'pydantic_ai' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code, json.dumps(WORK)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [block.model_dump() for block in first.blocks]


async def test_calls_of_different_turns_have_different_ids() -> None:
    steps: list[dict[str, Any]] = [{"call": [{"name": "add"}]}, {"say": "ok"}]
    first = await play(user("go"), steps=steps)
    conversation = (
        user("go"),
        assistant(first),
        results(first, "1"),
        Message(role="assistant", blocks=(Text(text="ok"),)),
    )
    second = await play(*conversation, user("go"), steps=steps)
    assert isinstance(first.blocks[0], ToolCall)
    assert isinstance(second.blocks[0], ToolCall)
    assert first.blocks[0].id != second.blocks[0].id


async def test_a_script_in_the_message_goes_before_the_one_in_the_settings() -> None:
    fenced = user('Please:\n```json\n{"steps": [{"say": "fenced"}]}\n```\n')
    assert said(await play(fenced, steps=[{"say": "settings"}])) == "fenced"
    described = user("Please", steps=[{"say": "metadata"}])
    assert said(await play(described, steps=[{"say": "settings"}])) == "metadata"


@pytest.mark.parametrize("text", ["```json\n{bad\n```", "```json\n[1]\n```", "```python\nsteps = 1\n```"])
async def test_a_fence_that_is_no_script_is_just_text(text: str) -> None:
    assert said(await play(user(text), steps=[{"say": "settings"}])) == "settings"


async def test_a_steer_in_the_middle_does_not_start_the_script_anew() -> None:
    asked = user("go", steps=WORK)
    first = await play(asked)
    steered = (asked, assistant(first), results(first, "1", "2"), user("and be quick", input="steered"))
    assert said(await play(*steered)) == "Done: 1; 2."
    assert said(await play(user("go"), *steered[1:], steps=WORK)) == "Done: 1; 2."


async def test_a_turn_after_one_that_ended_in_the_middle_of_calls_begins_the_script() -> None:
    asked = user("go")
    first = await play(asked, steps=WORK)
    before = (asked, assistant(first), results(first, "interrupted", "interrupted"))
    assert said(await play(*before, user("again"), steps=WORK)) == "Adding."


async def test_what_memory_tells_the_model_is_not_what_the_user_said() -> None:
    state = AgentState(context=(user("hello"),))
    asked = request_messages(state, recalled="likes tea")
    assert "likes tea" in asked[-1].text
    assert said(await play(*asked, steps=[{"say": "{user}"}])) == "hello"


def test_a_message_that_joined_a_running_turn_does_not_begin_one() -> None:
    answer = Message(role="assistant", blocks=(Text(text="5"),))
    assert turn_start((user("a"), answer, user("b"))) == 2
    assert turn_start((user("a"), answer, user("b", input="steered"))) == 0
    assert turn_start(()) == 0


async def test_a_failure_that_is_to_happen_twice_is_over_at_the_third_attempt() -> None:
    steps: list[dict[str, Any]] = [
        {"fail": "rate_limited", "retry_after_s": 3, "times": 2},
        {"cut": "It i", "times": 1},
        {"say": "It is 5."},
    ]
    for attempt in (1, 2):
        failure = await failing(steps=steps, attempt=attempt)
        assert (failure.failure, failure.retry_after_s) == ("rate_limited", 3)
    assert (await failing(steps=steps, attempt=3)).failure == "cut"
    assert said(await play(steps=steps, attempt=4)) == "It is 5."


@pytest.mark.parametrize("failure", ["transient", "timeout", "invalid", "auth", "context_length", "refused"])
async def test_a_failure_without_times_happens_every_time(failure: FailureClass) -> None:
    for attempt in (1, 50):
        assert (await failing(steps=[{"fail": failure}], attempt=attempt)).failure == failure


async def test_a_cut_keeps_the_words_that_came_before_it() -> None:
    partial = Partial()
    with pytest.raises(ModelFailure):
        await MODEL.respond(request(steps=[{"cut": "It is al", "thinking": "hm"}]), partial)
    assert partial.blocks == (Thinking(text="hm"), Text(text="It is al"))


async def test_silence_lasts_until_the_call_is_cancelled() -> None:
    partial = Partial()
    call = asyncio.create_task(
        MODEL.respond(request(steps=[{"silent": "Let me see", "times": 1}, {"say": "5"}]), partial)
    )
    while partial.text != "Let me see":
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert said(await play(steps=[{"silent": True, "times": 1}, {"say": "5"}], attempt=2)) == "5"


async def test_words_are_streamed_in_chunks() -> None:
    seen: list[str] = []
    partial = Partial(on_change=lambda p: seen.append(p.text))
    await MODEL.respond(request(steps=[{"say": "It is 5.", "chunk_characters": 3}]), partial)
    assert seen == ["It ", "It is ", "It is 5."]


async def test_a_call_can_be_malformed_and_can_have_an_id_of_its_own() -> None:
    response = await play(steps=[{"call": [{"name": "add", "malformed": "{", "id": "mine"}]}])
    assert response.blocks == (ToolCall(id="mine", name="add", malformed="{"),)


async def test_words_can_repeat_what_the_model_was_shown() -> None:
    response = await play(user("hello"), steps=[{"say": "{user} {messages} {other}"}])
    assert said(response) == "hello 1 {other}"


async def test_usage_grows_with_the_conversation_and_is_the_same_each_time() -> None:
    one = (await play(user("x" * 40), steps=[{"say": "y" * 8}])).usage
    two = (await play(user("x" * 40), user("x" * 40), steps=[{"say": "y" * 8}])).usage
    assert (one.requests, one.input_tokens, one.output_tokens) == (1, 13, 2)
    assert two.input_tokens == 23


async def test_an_empty_conversation_can_be_played_to() -> None:
    asked = ModelRequest("scripted:x", settings={"steps": [{"call": [{"name": "add"}]}]})
    assert (await MODEL.respond(asked, Partial())).finish_reason == "tool_call"


async def test_a_script_in_code_is_found_by_its_name_and_says_itself_in_json() -> None:
    registered = script(
        "registered", Fail(fail="transient", times=1), Call(call=(CallSpec(name="add"),)), Delay(delay_s=0)
    )
    asked = ModelRequest(registered.model, messages=(user("go"),), attempt=2)
    by_name = await MODEL.respond(asked, Partial())
    by_settings = await MODEL.respond(replace(asked, model="scripted:other", settings=registered.settings), Partial())
    assert by_name.blocks == by_settings.blocks
    assert script("registered", *registered.steps) == registered
    with pytest.raises(InvalidInput, match="registered as 'registered' already"):
        script("registered", Say(say="other"))


async def test_no_script_at_all_is_invalid_and_says_where_to_put_one() -> None:
    failure = await failing()
    assert failure.failure == "invalid"
    assert "model_settings" in str(failure)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([{"shout": "x"}], "steps|0"),
        ([{"say": "x"}, {"say": "x", "loud": True}], "1.say.loud"),
        ([{"fail": "badly"}], "0.fail.fail"),
        ([{"call": []}], "0.call.call"),
        ({"say": "x"}, "tuple|steps"),
        ([{"delay_s": -1}], "delay_s"),
    ],
)
async def test_a_wrong_script_is_invalid_and_says_where_it_is_wrong(steps: Any, says: str) -> None:  # noqa: ANN401
    failure = await failing(steps=steps)
    assert failure.failure == "invalid"
    assert any(part in str(failure) for part in says.split("|"))


def test_a_step_has_the_types_its_constructors_say() -> None:
    assert Silent(silent=True).times is None
    assert Say(say="x").finish == "stop"
