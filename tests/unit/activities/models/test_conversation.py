"""Whatever was stored, what a provider is sent is a valid conversation, and what it answers comes back whole."""

import itertools
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.messages import ModelRequest as WireRequest
from pydantic_ai.messages import ModelResponse as WireResponse

from turnwright.activities.models.answer import answer
from turnwright.activities.models.carried import Carried, pack, unpack
from turnwright.activities.models.clients import Key, make_model
from turnwright.activities.models.conversation import conversation
from turnwright.activities.models.outcomes import words
from turnwright.activities.models.port import ModelRequest
from turnwright.journal.canonical import repair, repair_text
from turnwright.journal.messages import Block, Media, Message, Text, Thinking, ToolCall, ToolResult, user
from turnwright.journal.view import paired

IDS = st.sampled_from(["a", "b", "c"])
NAMES = st.sampled_from(["add", "no such tool!", "x" * 100])
WORDS = st.text('ab {"\x00\ud800é😀', max_size=20)
MEDIA = st.builds(
    Media, mime=st.sampled_from(["image/png", "audio/wav", "text/plain"]), blob=st.sampled_from(["k", "l"])
)
CALLS = st.builds(ToolCall, id=IDS, name=NAMES, malformed=st.none() | WORDS)
RESULTS = st.builds(
    ToolResult,
    id=IDS,
    name=NAMES,
    output=st.lists(st.builds(Text, text=WORDS) | MEDIA, max_size=2).map(tuple),
    outcome=st.sampled_from(["success", "error", "denied", "interrupted", "unknown"]),
)
THOUGHTS = st.builds(Thinking, text=WORDS, signature=st.none() | WORDS, provider=st.none() | st.just("anthropic"))
BLOCKS = st.builds(Text, text=WORDS) | CALLS | RESULTS | THOUGHTS | MEDIA
MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        blocks=st.lists(BLOCKS, max_size=4).map(tuple),
    ),
    max_size=8,
).map(tuple)


# A loaded machine is slow at times, and that is no failure.
patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sent(*messages: Message) -> list[ModelMessage]:
    return conversation(ModelRequest("m", messages=messages, blobs={"k": b"bytes"}))


def answered_calls(wire: list[ModelMessage]) -> list[tuple[list[str], list[str]]]:
    """For each response with calls, their ids and the ids of the results in the message behind it."""
    pairs = []
    for index, message in enumerate(wire):
        if not isinstance(message, WireResponse):
            continue
        calls = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
        following = wire[index + 1].parts if index + 1 < len(wire) else []
        results = [part.tool_call_id for part in following if isinstance(part, ToolReturnPart)]
        pairs.append((calls, results))
    return pairs


@patiently
@given(MESSAGES)
def test_every_call_that_is_sent_has_exactly_one_result_right_behind_it(messages: tuple[Message, ...]) -> None:
    wire = sent(*paired(messages))
    pairs = answered_calls(wire)
    assert all(calls == results for calls, results in pairs)
    calls = [call for called, _ in pairs for call in called]
    assert len(set(calls)) == len(calls)
    results = [p for m in wire if isinstance(m, WireRequest) for p in m.parts if isinstance(p, ToolReturnPart)]
    assert len(results) == len(calls)


@patiently
@given(MESSAGES)
def test_requests_and_responses_alternate_and_are_never_empty(messages: tuple[Message, ...]) -> None:
    wire = sent(*paired(messages))
    assert all(message.parts for message in wire)
    kinds = [message.kind for message in wire]
    assert all(not (a == b == "request") for a, b in itertools.pairwise(kinds))


@patiently
@given(MESSAGES)
def test_an_openai_compatible_model_can_map_every_view(messages: tuple[Message, ...]) -> None:
    wire = sent(*paired(messages))
    assert LOCAL.prepare_messages(wire) is not None


LOCAL = make_model(Key("openai:x", "http://127.0.0.1:9/v1"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
DETAILS = st.none() | st.dictionaries(st.text("abc", min_size=1), JSON, min_size=1, max_size=2)
PARTS: st.SearchStrategy[TextPart | ThinkingPart | ToolCallPart] = st.one_of(
    st.builds(TextPart, content=WORDS.filter(bool), id=st.none() | st.just("msg"), provider_details=DETAILS),
    st.builds(ThinkingPart, content=WORDS, id=st.none() | st.just("rs"), signature=st.none() | st.just("sig")),
    st.builds(ToolCallPart, tool_name=NAMES, args=st.dictionaries(WORDS, JSON, max_size=2), provider_details=DETAILS),
)


@patiently
@given(st.lists(PARTS, max_size=5), st.sampled_from([None, "https://api.example"]), st.sampled_from([None, "openai"]))
def test_an_answer_goes_back_as_it_came(
    parts: list[TextPart | ThinkingPart | ToolCallPart], url: str | None, system: str | None
) -> None:
    for part in parts:
        part.provider_name = "acme"
    first = answer(WireResponse(parts=parts, provider_name="acme", provider_url=url, canonical_system=system), (), "m")
    wire = sent(*paired((user("go"), Message(role="assistant", blocks=first.blocks))))
    responses = [message for message in wire if isinstance(message, WireResponse)]
    again = answer(responses[0], (), "m") if responses else answer(WireResponse(parts=[]), (), "m")
    assert [block for block in again.blocks if not named(block)] == [
        block for block in first.blocks if not named(block)
    ]
    assert [b.arguments for b in again.blocks if isinstance(b, ToolCall)] == [
        b.arguments for b in first.blocks if isinstance(b, ToolCall)
    ]


def named(block: Block) -> bool:
    """A call may come back under the name that was allowed on the wire."""
    return isinstance(block, ToolCall)


def test_provider_data_of_texts_and_calls_comes_back_to_them() -> None:
    parts: list[TextPart | ThinkingPart | ToolCallPart] = [
        ThinkingPart("hm", id="rs_1", signature="sig", provider_name="openai"),
        TextPart("hello", id="msg_1", provider_name="openai", provider_details={"phase": "commentary"}),
        ToolCallPart("add", {"a": 1}, "c1", id="fc_1", provider_name="openai", provider_details={"thought": "x"}),
    ]
    wire = WireResponse(parts=parts, provider_name="openai", provider_url="https://api", canonical_system="openai")
    stored = Message(role="assistant", blocks=answer(wire, (), "m").blocks)
    copied = Message.model_validate_json(stored.model_dump_json())
    response = sent(*paired((user("go"), copied)))[1]
    assert isinstance(response, WireResponse)
    assert response.parts == parts
    assert (response.provider_name, response.provider_url, response.canonical_system) == (
        "openai",
        "https://api",
        "openai",
    )


def test_a_signature_alone_is_kept_as_it_came() -> None:
    assert pack(Carried(signature="sig")) == "sig"
    assert unpack(Thinking(text="", signature="sig")) == Carried(signature="sig")
    assert pack(Carried()) is None


@patiently
@given(WORDS, DETAILS)
def test_what_is_packed_is_unpacked(identity: str, details: dict[str, Any] | None) -> None:
    carried = Carried("call", repair_text(identity) or "id", None, repair(details), "u", "s")
    assert unpack(Thinking(text="", signature=pack(carried))) == carried


def test_a_denial_is_told_once_as_a_decision_of_a_person() -> None:
    call = ToolCall(id="a", name="pay")
    denied = ToolResult(id="a", name="pay", output=(Text(text="Too dear."),), outcome="denied")
    wire = sent(*paired((Message(role="assistant", blocks=(call,)), Message(role="tool", blocks=(denied,)))))
    (part,) = wire[1].parts
    assert isinstance(part, ToolReturnPart)
    assert part.outcome == "denied"
    told = part.model_response_str()
    assert told.startswith("Not run: The user decided not to run this call.")
    assert told.endswith("Too dear.")


def test_a_result_without_output_says_so() -> None:
    assert words(ToolResult(id="a", name="x")) == "(no output)"
    assert words(ToolResult(id="a", name="x", output=(Media(mime="image/png", blob="k"),))) == ""


def test_two_messages_of_a_user_in_a_row_are_sent_as_one() -> None:
    (message,) = sent(user("one"), user("two"))
    (part,) = message.parts
    assert isinstance(part, UserPromptPart)
    assert part.content == "one\n\ntwo"


def test_a_name_a_model_invented_is_rewritten_in_the_call_and_in_its_result() -> None:
    call = ToolCall(id="a", name="shop.buy it")
    wire = sent(*paired((Message(role="assistant", blocks=(call,)),)))
    assert [getattr(part, "tool_name", "") for message in wire for part in message.parts] == ["shop_buy_it"] * 2


def test_media_by_data_url_is_sent_as_bytes_and_a_broken_one_as_a_note() -> None:
    good, bad = Media(mime="image/png", url="data:image/png;base64,aGk="), Media(mime="image/png", url="data:nonsense")
    (message,) = sent(Message(role="user", blocks=(good, bad)))
    (part,) = message.parts
    assert isinstance(part, UserPromptPart)
    first, second = list(part.content)
    assert getattr(first, "data", None) == b"hi"
    assert "cannot be read" in str(second)
