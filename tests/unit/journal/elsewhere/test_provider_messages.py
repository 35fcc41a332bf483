"""Messages of OpenAI and Anthropic become conversations that go on, and every provider takes what is sent of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.journal.elsewhere.documents import PICTURE, PICTURE_TEXT
from tests.unit.journal.world import check_pairs
from turnwright.journal.elsewhere import FORMATS, Conversation, Format, read_conversation
from turnwright.journal.elsewhere.difference import difference
from turnwright.journal.elsewhere.document import check_size, document
from turnwright.journal.elsewhere.pairs import BEGINNING, UNANSWERED
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Media, Text, Thinking, ToolCall, ToolResult
from turnwright.journal.view import paired

PIXEL = f"data:image/png;base64,{PICTURE_TEXT[:4]}\n{PICTURE_TEXT[4:]}"


def openai(*messages: dict[str, Any]) -> Conversation:
    return read_conversation("openai", list(messages))


def anthropic(*messages: dict[str, Any], **more: Any) -> Conversation:  # noqa: ANN401 - any JSON value
    return read_conversation("anthropic", {"messages": list(messages), **more})


def asked(call_id: str, arguments: str = "{}", name: str = "look") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


USER = {"role": "user", "content": "hi"}


def roles(found: Conversation) -> list[str]:
    return [message.role for message in found.messages]


def notes(found: Conversation) -> list[str]:
    return [f"{note.place}: {note.text}" for note in found.notes]


def test_words_pictures_and_names_of_chat_messages_are_taken_along() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}]
    found = openai({"role": "developer", "content": "be brief"}, {"role": "user", "content": parts, "name": "ann"})
    assert roles(found) == ["system", "user"]
    said = found.messages[1]
    (text, picture) = said.blocks
    assert (said.name, text) == ("ann", Text(text="see"))
    assert isinstance(picture, Media)
    assert found.blobs == {picture.blob: PICTURE}
    assert notes(found) == []


def test_a_call_without_its_result_gets_an_interrupted_one_behind_those_that_came() -> None:
    found = openai(USER, calling(asked("a"), asked("b"), asked("c")), answer("b", "done"), USER)
    assert roles(found) == ["user", "assistant", "tool", "tool", "tool", "user"]
    results = [result for message in found.messages for result in message.results]
    assert [(result.id, result.outcome) for result in results] == [
        ("b", "success"), ("a", "interrupted"), ("c", "interrupted"),
    ]  # fmt: skip
    assert results[1].output == (Text(text=UNANSWERED),)
    assert notes(found) == [f"messages[1]: the call {name!r} of look had no result: it is interrupted" for name in "ac"]


def test_a_result_without_its_call_is_text_that_says_so() -> None:
    found = openai(USER, answer("nobody", "found it"))
    (_, said) = found.messages
    assert (said.role, said.metadata) == ("user", {"input": "injected"})
    assert said.text == "[A result whose call is not in this conversation]found it"
    assert notes(found) == ["messages[1]: a result without its call ('nobody') is shown as text"]


def test_calls_that_share_an_id_or_have_one_no_provider_takes_are_told_apart() -> None:
    first = "functions.look:0"
    steps = [step for text in ("one", "two") for step in (calling(asked(first)), answer(first, text))]
    found = openai(USER, *steps, calling(asked("")), answer("", "three"))
    calls = [call.id for message in found.messages for call in message.calls]
    assert calls == ["functions_look_0", "functions_look_0-2", "call"]
    results = [(result.id, result.output[0]) for message in found.messages for result in message.results]
    assert results == list(zip(calls, (Text(text=text) for text in ("one", "two", "three")), strict=True))


def test_functions_of_the_time_before_ids_find_their_calls_by_name() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"at": "\\u0000"}'}}
    found = openai(USER, old, {"role": "function", "name": "look", "content": "seen"})
    (call,) = found.messages[1].calls
    assert call.arguments == {"at": "\u2400"}
    assert found.messages[2].results == (ToolResult(id=call.id, name="look", output=(Text(text="seen"),)),)


def test_arguments_that_are_no_object_are_kept_as_they_were_written() -> None:
    found = openai(USER, calling(asked("a", "{oops"), asked("b", "[1]"), asked("c", "")))
    assert [call.malformed for call in found.messages[1].calls] == ["{oops", "[1]", None]


def test_a_conversation_that_begins_with_its_agent_gets_a_line_in_front() -> None:
    found = openai({"role": "system", "content": "be brief"}, {"role": "assistant", "content": "hello"})
    assert [(message.role, message.text) for message in found.messages] == [
        ("system", "be brief"), ("user", BEGINNING), ("assistant", "hello"),
    ]  # fmt: skip


def test_thinking_of_anthropic_keeps_its_signature_and_results_stand_before_words() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 1}},
    ]
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE_TEXT}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": [picture]}
    found = anthropic(
        USER,
        {"role": "assistant", "content": content},
        {"role": "user", "content": [{"type": "text", "text": "go on"}, result]},
        system=[{"type": "text", "text": "be brief"}],
    )
    assert roles(found) == ["system", "user", "assistant", "tool", "user"]
    assert found.messages[2].blocks == (
        Thinking(text="hm", signature="c2ln", provider="anthropic"),
        Text(text="ok"),
        ToolCall(id="toolu_1", name="look", arguments={"at": 1}),
    )
    (held,) = found.messages[3].results
    assert (held.name, held.outcome, [block.type for block in held.output]) == ("look", "error", ["media"])
    assert notes(found) == [
        "messages[1].content[1].cache_control: what is to be cached is Turnwright's to say; left out"
    ]


@pytest.mark.parametrize(
    ("form", "document", "place"),
    [
        ("openai", [USER, {"role": "user", "content": [{"text": "a"}]}], "messages[1].content[0].type"),
        ("openai", [{"role": "friend", "content": "a"}], "messages[0].role"),
        ("openai", [{"role": "user", "content": 5}], "messages[0].content"),
        ("openai", {"model": "m"}, "messages"),
        ("openai", [calling({"id": 7, "function": {"name": "a"}})], "messages[0].tool_calls[0].id"),
        ("openai", [{"role": "user", "content": [{"type": "image_url", "image_url": "data:image/png;base64,?"}]}],
         "messages[0].content[0].image_url"),
        ("anthropic", [{"role": "user", "content": [{"type": "image", "source": {"type": "ftp"}}]}],
         "messages[0].content[0].source.type"),
        ("anthropic", [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": [1]}]}],
         "messages[0].content[0].input"),
        ("agentscope", {"context": [{"role": "USER", "content": [{"type": 3}]}]}, "context[0].content[0].type"),
        ("agentscope", {"context": [{"role": "USER", "timestamp": "2026-03-01 10:00:00.123"}]}, "context[0].timestamp"),
        ("agentscope", {"permission_context": {"mode": "yolo"}}, "permission_context.mode"),
        ("agentscope", {"tasks_context": {"tasks": [{"id": "a", "subject": None}]}}, "tasks_context.tasks[0].subject"),
        ("agentscope", {"turnwright": difference({"summary": ""}, {"summary": 1})}, "turnwright"),
        ("agentscope", [], "the document"),
        ("agentscope", {}, "the document"),
        ("agentscope", {"model": "m", "messages": [{"role": "user", "content": "a"}]}, "the document"),
        ("openai", [], "messages"),
        ("openai", [{"role": "user", "content": " "}], "messages"),
        ("anthropic", {"messages": [], "system": ""}, "messages"),
    ],
)  # fmt: skip
def test_what_is_odd_is_an_error_that_names_its_place(form: Format, document: Any, place: str) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(InvalidInput) as refused:
        read_conversation(form, document)
    assert str(refused.value).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "levels deep"),
        ('[{"role": "user", "role": "system"}]', "the key 'role' twice"),
        ("[NaN]", "NaN is no number"),
        ("[1e999]", "inf is no JSON number"),
        (b"\xff[]", "not UTF-8"),
        ("{", "no JSON"),
        (json.dumps([[]] * 3).replace("[]", "[" * 70 + "]" * 70), "levels deep"),
    ],
)
def test_a_document_that_is_no_json_or_too_deep_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_conversation("openai", text)


def test_characters_that_no_store_holds_are_replaced_and_noted() -> None:
    found = read_conversation("openai", json.dumps([{"role": "user", "content": "a\x00\ud800"}]))
    assert found.messages[0].text == "a\u2400\ufffd"
    assert notes(found) == ["[0].content: characters that no store can hold were replaced by visible ones"]


WORDS = re.compile(r"\S+")
KEYS = WORDS.findall(
    "role content type text tool_calls function name id tool_use_id input source context arguments tool_call_id "
    "messages system metadata turnwright in is timestamp state hint"
)
VALUES = WORDS.findall("user assistant tool system USER TOOL text tool_use tool_call tool_result a {}")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(VALUES)}, optional=dict.fromkeys(("content", "tool_calls", "tool_call_id"), ANYTHING)
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FORMATS), ANYTHING | st.lists(MESSAGE) | st.fixed_dictionaries({"context": st.lists(MESSAGE)}))
def test_any_document_is_read_whole_or_refused_and_what_is_read_has_its_pairs(form: Format, document: Any) -> None:  # noqa: ANN401 - JSON
    try:
        found = read_conversation(form, document)
    except InvalidInput:
        return
    check_pairs(paired(found.messages))
    calls = [call.id for message in found.messages for call in message.calls]
    assert sorted(calls) == sorted(result.id for message in found.messages for result in message.results)
    said = [message.role for message in found.messages if message.role != "system" and message.blocks]
    assert said[:1] in ([], ["user"])


class Walked(list[None]):
    """A list that says how far it was read."""

    far = 0

    def __iter__(self) -> Iterator[None]:
        for item in super().__iter__():
            self.far += 1
            yield item


def test_of_a_document_with_too_many_values_no_more_than_may_be_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(document.__globals__, "VALUES_MAX", 10)
    many = Walked([None] * 1_000)
    with pytest.raises(InvalidInput, match="more than 10 values"):
        document(many, lambda _, __: None)
    assert many.far == 10
    assert document([None] * 9, lambda _, __: None).value == [None] * 9


SIGNS = st.text('[{,"\\é', max_size=12)
TREES: st.SearchStrategy[Any] = st.recursive(
    SIGNS | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SIGNS, inner, max_size=4),
    max_leaves=20,
)


def size(tree: Any) -> int:  # noqa: ANN401 - any JSON value
    """The values inside."""
    if not isinstance(tree, list | dict):
        return 0
    inner = list(tree.values()) if isinstance(tree, dict) else tree
    return sum(1 + size(item) for item in inner)


@given(TREES, st.booleans())
def test_values_are_counted_before_they_are_made_and_nothing_in_a_text_is_one(tree: Any, raw: bool) -> None:  # noqa: ANN401
    said, count = json.dumps(tree, ensure_ascii=False), size(tree)
    with pytest.MonkeyPatch.context() as patch:
        for most in {count, max(count - 1, 0)}:
            patch.setitem(check_size.__globals__, "VALUES_MAX", most)
            if count <= most:
                check_size(said.encode() if raw else said)
            else:
                with pytest.raises(InvalidInput, match=f"more than {most} values"):
                    check_size(said.encode() if raw else said)
