"""What is taken from a provider's response."""

from decimal import Decimal

from pydantic_ai.messages import BinaryContent, FilePart, NativeToolCallPart, TextPart, ThinkingPart
from pydantic_ai.messages import ModelResponse as WireResponse
from pydantic_ai.usage import RequestUsage

from turnwright.activities.models.answer import answer, usage_of
from turnwright.journal.messages import Media, Text, Thinking


def test_cost_is_what_the_provider_says_or_what_the_price_list_says_or_nothing() -> None:
    said = WireResponse(parts=[], usage=RequestUsage(cost=Decimal("0.0000015")), model_name="x")
    assert usage_of(said).cost_microusd == 2
    listed = WireResponse(
        parts=[],
        usage=RequestUsage(input_tokens=1_000_000, cache_read_tokens=5),
        model_name="gpt-4o",
        provider_name="openai",
    )
    assert usage_of(listed).cost_microusd > 1_000_000
    assert usage_of(listed).cache_read_tokens == 5
    assert usage_of(WireResponse(parts=[], model_name="tiny", provider_name="openai-compatible")).cost_microusd == 0


def test_a_file_the_model_made_becomes_media_with_its_bytes() -> None:
    response = answer(WireResponse(parts=[FilePart(BinaryContent(b"png", media_type="image/png"))]), (), "m")
    (image,) = response.blocks
    assert isinstance(image, Media)
    assert response.blobs == {image.blob: b"png"}


def test_empty_parts_and_parts_nobody_asked_for_are_left_out() -> None:
    wire = WireResponse(parts=[TextPart(""), ThinkingPart(""), NativeToolCallPart("web_search"), TextPart("5")])
    assert answer(wire, (), "m").blocks == (Text(text="5"),)


def test_thinking_from_tags_needs_nothing_to_come_back() -> None:
    part = ThinkingPart("hm", id="content", provider_name="openai-compatible")
    assert answer(WireResponse(parts=[part]), (), "m").blocks == (Thinking(text="hm", provider="openai-compatible"),)


def test_the_model_is_named_as_the_provider_names_it_but_never_by_a_path() -> None:
    assert answer(WireResponse(parts=[], model_name="gpt-5-2030"), (), "gpt-5").model == "gpt-5-2030"
    assert answer(WireResponse(parts=[], model_name="/models/tiny.gguf"), (), "m").model == "tiny.gguf"
    assert answer(WireResponse(parts=[]), (), "m").model == "m"
