"""The adapter against a server that answers over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.models.openai_peer import Peer, Reply, called, chunk, finished, peer, words
from turnwright.activities.models.port import ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ToolSpec
from turnwright.journal.messages import Media, Message, Text, Thinking, ToolCall, ToolResult, user

ADD = ToolSpec(
    name="add",
    description="Add two numbers.",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)


@asynccontextmanager
async def served(*replies: Reply) -> AsyncIterator[tuple[Models, Peer]]:
    models = Models()
    async with peer(*replies) as other:
        try:
            yield models, other
        finally:
            await models.aclose()


def request(other: Peer, *messages: Message, settings: dict[str, Any] | None = None) -> ModelRequest:
    asked = messages or (user("What is 2 and 3?"),)
    return ModelRequest("openai:tiny", "Be brief.", asked, (ADD,), settings or {}, base_url=other.url)


async def failing(reply: Reply, partial: Partial | None = None) -> tuple[ModelFailure, Peer]:
    async with served(reply) as (models, other):
        with pytest.raises(ModelFailure) as caught:
            await models.respond(request(other), partial or Partial())
    return caught.value, other


async def answered(*chunks: dict[str, Any], messages: tuple[Message, ...] = ()) -> tuple[ModelResponse, Peer]:
    async with served(Reply(chunks=chunks)) as (models, other):
        return await models.respond(request(other, *messages), Partial()), other


async def test_words_are_streamed_and_the_answer_has_usage_model_and_reason() -> None:
    seen: list[str] = []
    async with served(Reply(chunks=(*words("It ", "is ", "5."), *finished("stop")))) as (models, other):
        partial = Partial(on_change=lambda p: seen.append(p.text))
        response = await models.respond(request(other), partial)
    assert response.blocks == (Text(text="It is 5."),)
    assert (response.finish_reason, response.model) == ("stop", "peer")
    assert (response.usage.requests, response.usage.input_tokens, response.usage.output_tokens) == (1, 11, 7)
    assert seen == ["It ", "It is ", "It is 5."]
    assert partial.usage == response.usage


async def test_the_request_holds_instructions_conversation_and_tools() -> None:
    _, other = await answered(*words("ok"), *finished("stop"))
    (body,) = other.asked
    assert body["model"] == "tiny"
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == "Be brief."
    assert body["tools"][0]["function"]["name"] == "add"
    assert body["tools"][0]["function"]["description"] == "Add two numbers."
    assert body["stream"] is True


async def test_parallel_calls_keep_their_ids_and_arguments() -> None:
    calls = (called(0, "add", '{"a": 1}'), called(1, "add", '{"a": '), chunk({"tool_calls": [_more(1, "2}")]}))
    response, _ = await answered(*calls, *finished("tool_calls"))
    assert response.blocks == (
        ToolCall(id="call_0", name="add", arguments={"a": 1}),
        ToolCall(id="call_1", name="add", arguments={"a": 2}),
    )
    assert response.finish_reason == "tool_call"


def _more(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


@pytest.mark.parametrize(
    "written", ['{"a": 1', "[1, 2]", '"five"', '{"a": NaN}', "{" * 2000, '{"a":' * 200 + "1" + "}" * 200]
)
async def test_arguments_that_are_no_json_object_are_kept_as_they_were_written(written: str) -> None:
    response, _ = await answered(called(0, "add", written), *finished("tool_calls"))
    assert response.blocks == (ToolCall(id="call_0", name="add", malformed=written),)


async def test_a_malformed_call_can_be_sent_again_with_its_result() -> None:
    call = ToolCall(id="call_0", name="add", malformed='{"a": 1')
    result = ToolResult(id="call_0", name="add", output=(Text(text="no JSON"),), outcome="error")
    conversation = (user("2+3"), Message(role="assistant", blocks=(call,)), Message(role="tool", blocks=(result,)))
    _, other = await answered(*words("Sorry."), *finished("stop"), messages=conversation)
    sent = other.asked[0]["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool"]
    assert '{\\"a\\": 1' in sent[2]["tool_calls"][0]["function"]["arguments"]
    assert sent[3]["tool_call_id"] == "call_0"


async def test_an_id_that_was_used_before_is_made_distinct() -> None:
    call = ToolCall(id="call_0", name="add", arguments={"a": 1})
    result = ToolResult(id="call_0", name="add", output=(Text(text="1"),))
    conversation = (user("2+3"), Message(role="assistant", blocks=(call,)), Message(role="tool", blocks=(result,)))
    response, _ = await answered(called(0, "add", '{"a": 2}'), *finished("tool_calls"), messages=conversation)
    assert response.blocks == (ToolCall(id="call_0-2", name="add", arguments={"a": 2}),)


async def test_thinking_comes_back_in_the_field_it_came_in() -> None:
    first, _ = await answered(chunk({"reasoning_content": "Two and three…"}), *words("5"), *finished("stop"))
    thinking = first.blocks[0]
    assert isinstance(thinking, Thinking)
    assert thinking.text == "Two and three…"
    conversation = (user("2+3"), Message(role="assistant", blocks=first.blocks), user("sure?"))
    _, other = await answered(*words("yes"), *finished("stop"), messages=conversation)
    assert other.asked[0]["messages"][2]["reasoning_content"] == "Two and three…"
    assert other.asked[0]["messages"][2]["content"] == "5"


async def test_an_emoji_cut_into_two_chunks_is_whole_in_the_answer() -> None:
    partial = Partial()
    async with served(Reply(chunks=(*words("ok \ud83d", "\ude00"), *finished("stop")))) as (models, other):
        response = await models.respond(request(other), partial)
    assert response.blocks == (Text(text="ok 😀"),)
    assert partial.text == "ok 😀"


async def test_half_an_emoji_and_nul_are_replaced_visibly() -> None:
    response, _ = await answered(*words("a\ud83d", "b\x00c"), *finished("stop"))
    assert response.blocks == (Text(text="a\ufffdb\u2400c"),)


async def test_outcomes_read_as_words_and_results_stand_behind_their_calls() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="add") for n in range(4))
    results = (
        ToolResult(id="c0", name="add", output=(Text(text="5"),)),
        ToolResult(id="c1", name="add", outcome="denied"),
        ToolResult(id="c2", name="add", outcome="unknown"),
        ToolResult(id="c3", name="add", output=(Text(text="half"),), outcome="interrupted"),
    )
    asked, answered_by = Message(role="assistant", blocks=calls), Message(role="tool", blocks=results)
    conversation = (user("go"), asked, answered_by, user("and?"))
    _, other = await answered(*words("ok"), *finished("stop"), messages=conversation)
    sent = other.asked[0]["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "tool", "tool", "tool", "user"]
    assert [m["content"].split(":")[0] for m in sent[3:7]] == ["5", "Not run", "Outcome unknown", "Interrupted"]
    assert "not a missing permission" in sent[4]["content"]


async def test_an_image_goes_by_url_or_by_its_bytes() -> None:
    by_url = Media(mime="image/png", url="https://example.com/a.png")
    by_blob, lost = Media(mime="image/png", blob="ab"), Media(mime="image/png", blob="gone")
    asked = Message(role="user", blocks=(Text(text="Look:"), by_url, by_blob, lost))
    async with served(Reply(chunks=(*words("ok"), *finished("stop")))) as (models, other):
        await models.respond(replace(request(other, asked), blobs={"ab": b"\x89PNG"}), Partial())
    content = other.asked[0]["messages"][1]["content"]
    assert content[0] == {"type": "text", "text": "Look:"}
    assert content[1]["image_url"]["url"] == "https://example.com/a.png"
    assert content[2]["image_url"]["url"].startswith("data:image/png;base64,")
    assert "no longer stored" in content[3]["text"]


@pytest.mark.parametrize(
    "file",
    [
        Media(mime="audio/ogg", blob="ab"),
        Media(mime="video/mp4", blob="ab"),
        Media(mime="text/plain", blob="ab"),
        Media(mime="application/x-nobody-knows", blob="ab"),
        Media(mime="application/pdf", url="http://127.0.0.1:9/gone.pdf"),
        Media(mime="video/mp4", url="https://example.com/a.mp4"),
    ],
)
async def test_a_file_the_model_cannot_take_is_left_out_with_a_note_and_the_turn_goes_on(file: Media) -> None:
    asked = Message(role="user", blocks=(Text(text="Look:"), file))
    async with served(Reply(chunks=(*words("ok"), *finished("stop")))) as (models, other):
        response = await models.respond(replace(request(other, asked), blobs={"ab": b"\xff\xfe\x00"}), Partial())
    assert response.blocks == (Text(text="ok"),)
    assert other.asked[0]["messages"][1]["content"].startswith(f"Look:\n[{file.mime}: this model cannot take")


async def test_a_429_is_rate_limited_with_the_wait_the_server_asked_for_and_is_sent_once() -> None:
    failure, other = await failing(Reply(429, {"retry-after": "7"}, {"error": {"message": "slow down"}}))
    assert (failure.failure, failure.retry_after_s) == ("rate_limited", 7.0)
    assert len(other.asked) == 1


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(500, body={"error": {"message": "oops"}}), "transient"),
        (Reply(503, body={"error": {"message": "loading model"}}), "transient"),
        (Reply(401, body={"error": {"message": "wrong key sk-abcdefghijkl"}}), "auth"),
        (Reply(402, body={"error": {"message": "pay"}}), "auth"),
        (Reply(429, body={"error": {"message": "no money", "code": "insufficient_quota"}}), "auth"),
        (Reply(404, body={"error": {"message": "no such model"}}), "invalid"),
        (Reply(400, body={"error": {"message": "bad field"}}), "invalid"),
        (Reply(400, body={"error": {"message": "x", "code": "context_length_exceeded"}}), "context_length"),
        (Reply(400, body={"error": {"message": "the request exceeds the available context size"}}), "context_length"),
        (Reply(413, body={"error": {"message": "too large"}}), "context_length"),
        (Reply(400, body={"error": {"message": "no", "code": "content_policy_violation"}}), "refused"),
        (Reply(408, body={"error": {"message": "late"}}), "timeout"),
        (Reply(chunks=words("5 and"), ending="cut"), "cut"),
        (Reply(chunks=words("5 and"), ending="closed"), "cut"),
        (Reply(chunks=words("5 and")), "cut"),
        (Reply(chunks=({"error": {"message": "overloaded", "code": "server_error"}},)), "transient"),
        (Reply(chunks=(chunk({"refusal": "I will not."}), *finished("stop"))), "refused"),
    ],
)
async def test_every_way_to_fail_has_its_class_and_is_not_retried(reply: Reply, expected: str) -> None:
    failure, other = await failing(reply)
    assert failure.failure == expected
    assert len(other.asked) == 1
    assert "sk-abcdefghijkl" not in str(failure)


async def test_a_cut_answer_keeps_the_words_that_came() -> None:
    partial = Partial()
    await failing(Reply(chunks=words("It is", " al"), ending="cut"), partial)
    assert partial.blocks == (Text(text="It is al"),)


async def test_a_server_that_is_not_there_is_transient() -> None:
    async with served() as (models, other):
        there = ModelRequest("openai:tiny", messages=(user("hi"),), base_url="http://127.0.0.1:9/v1")
        with pytest.raises(ModelFailure) as caught:
            await models.respond(there, Partial())
    assert caught.value.failure == "transient"
    assert other.asked == []


async def test_a_stream_that_never_begins_is_a_timeout_after_the_time_the_settings_give() -> None:
    async with served(Reply(ending="silent")) as (models, other):
        with pytest.raises(ModelFailure) as caught:
            await models.respond(request(other, settings={"first_event_timeout": 0.05}), Partial())
    assert caught.value.failure == "timeout"


async def test_cancel_in_a_silent_stream_ends_the_call_hangs_up_and_keeps_the_words() -> None:
    partial = Partial()
    async with served(Reply(chunks=words("It is"), ending="silent")) as (models, other):
        call = asyncio.create_task(models.respond(request(other), partial))
        await other.answering.wait()
        while not partial.text:
            await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(other.hung_up.wait(), 10)
    assert partial.text == "It is"


async def test_cancel_before_the_first_word_ends_the_call() -> None:
    async with served(Reply(ending="silent")) as (models, other):
        call = asyncio.create_task(models.respond(request(other), Partial()))
        await other.answering.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(other.hung_up.wait(), 10)


async def test_a_stream_without_a_finish_reason_is_whole_if_the_settings_say_so() -> None:
    async with served(Reply(chunks=words("5"))) as (models, other):
        response = await models.respond(request(other, settings={"finish_reason_optional": True}), Partial())
    assert response.blocks == (Text(text="5"),)
    assert "finish_reason_optional" not in other.asked[0]


async def test_settings_reach_the_server_and_retries_of_the_sdk_stay_off() -> None:
    settings = {"temperature": 0.5, "max_tokens": 9, "max_retries": 5}
    async with served(Reply(500, body={"error": {"message": "oops"}}), Reply(500)) as (models, other):
        with pytest.raises(ModelFailure):
            await models.respond(request(other, settings=settings), Partial())
    assert [(body["temperature"], body["max_tokens"]) for body in other.asked] == [(0.5, 9)]


async def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "second")
    monkeypatch.setenv("TURNWRIGHT_MODEL_API_KEY", "first")
    _, other = await answered(*words("ok"), *finished("stop"))
    monkeypatch.delenv("TURNWRIGHT_MODEL_API_KEY")
    _, second = await answered(*words("ok"), *finished("stop"))
    monkeypatch.delenv("OPENAI_API_KEY")
    _, local = await answered(*words("ok"), *finished("stop"))
    assert other.keys + second.keys + local.keys == ["Bearer first", "Bearer second", "Bearer local"]


async def test_an_empty_conversation_and_an_unknown_provider_are_invalid() -> None:
    models = Models()
    empty = ModelRequest("openai:x", base_url="http://127.0.0.1:9/v1")
    for bad in (empty, ModelRequest("nobody:x", messages=(user("hi"),))):
        with pytest.raises(ModelFailure) as caught:
            await models.respond(bad, Partial())
        assert caught.value.failure == "invalid"
    await models.aclose()


async def test_a_request_is_checked_without_being_sent() -> None:
    async with served() as (models, other):
        await models.check(request(other))
        with pytest.raises(ModelFailure, match="the conversation is empty"):
            await models.check(replace(request(other), messages=()))
        assert other.asked == []
