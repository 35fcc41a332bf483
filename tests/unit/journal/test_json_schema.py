"""A schema that may be asked with, and answers to it: bounded, and told in words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from turnwright.journal.json_schema import ANSWER_NODES_MAX, PROBLEMS_MAX, check_schema, problems
from turnwright.journal.json_schema_words import WORDS_CHARACTERS_MAX

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "$ref", "$defs", "anyOf", "items", "pattern", "enum", "minimum", "format", "not"]
)
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["string", "object", "#/$defs/a", "(", "date-time"]),
    lambda inner: st.dictionaries(KEYWORDS | st.just("a"), inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=15,
)


class Tree(BaseModel):
    value: int = Field(ge=0)
    under: list["Tree"] = []


class Form(BaseModel):
    name: str = Field(min_length=1, pattern="^[a-z]*$")
    colour: str | None = None
    tree: Tree | None = None


FORM = Form.model_json_schema()


@given(SCHEMAS, JSON)
def test_whatever_the_schema_and_the_answer_there_are_words_and_no_exception(schema: Any, value: Any) -> None:  # noqa: ANN401
    refused = check_schema(schema)
    if not isinstance(schema, dict):
        assert refused == "a schema is a JSON object"
        return
    said = problems(schema, value)
    assert len(said) <= PROBLEMS_MAX + 1
    assert refused is None or said


def test_a_schema_made_of_a_pydantic_model_can_be_asked_with() -> None:
    assert check_schema(FORM) is None
    assert problems(FORM, {"name": "ada", "tree": {"value": 1, "under": [{"value": 2}]}}) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "name is missing"),
        ({"name": ""}, "name: must have at least 1 characters"),
        ({"name": "Ada"}, "name: must match ^[a-z]*$"),
        ({"name": 3}, "name: must be text"),
        ({"name": "ada", "colour": 3}, "colour: must be one of these: must be text; or must be empty"),
        ([], "must be an object"),
    ],
)
def test_a_problem_names_its_place_and_what_is_wanted(answer: Any, said: str) -> None:  # noqa: ANN401
    assert problems(FORM, answer) == [said]


def test_a_choice_lists_what_may_be_chosen_and_what_is_unknown_is_named() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "additionalProperties": False}
    assert problems(schema, {"a": "z", "b": 1}) == ["a: must be one of: x, y", "may not have b"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([], "JSON object"),
        ({"type": "nonsense"}, "not valid"),
        ({"properties": {"a": 3}}, "properties.a"),
        ({"$ref": "https://example.com/schema"}, "must lead to a definition"),
        ({"$ref": "#/$defs/gone", "$defs": {}}, "leads nowhere"),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "without end"),
        ({"properties": {"a": {"$id": "https://example.com"}}}, "cannot use $id"),
        ({"patternProperties": {"^a": {}}}, "cannot use patternProperties"),
        ({"pattern": "(?=a)"}, "no look-around"),
        ({"pattern": "a" * 501}, "at most 500 characters"),
        ({"$schema": "https://example.com/other"}, "$schema"),
        ({"enum": ["x" * 70_000]}, "bytes"),
        ({"allOf": [{}] * 1_001}, "too large"),
        ({"default": float("nan")}, "JSON"),
    ],
)
def test_a_schema_that_reaches_outside_or_has_no_end_is_refused(schema: Any, why: str) -> None:  # noqa: ANN401
    refused = check_schema(schema)
    assert refused is not None
    assert why in refused


def test_a_deep_schema_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"items": schema}
    assert "nested too deeply" in (check_schema(schema) or "")


def test_references_that_multiply_are_not_followed_for_ever() -> None:
    many = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(25)}
    assert check_schema({"$defs": many | {"a25": True}, "$ref": "#/$defs/a0"}) is not None
    twice = {"properties": {"x": {"anyOf": [{"$ref": "#/$defs/a"}] * 2}}, "required": ["never"]}
    value: dict[str, Any] = {}
    for _ in range(20):
        value = {"x": value}
    schema = {"$defs": {"a": twice}, "$ref": "#/$defs/a"}
    assert check_schema(schema) is None
    assert problems(schema, value) == ["is nested too deeply"]


def test_a_pattern_that_would_backtrack_for_ever_is_matched_at_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert problems(schema, {"a": "a" * 50_000 + "b"}) == ["a: must match ^(a+)+$"]


def test_a_vast_answer_is_not_looked_into() -> None:
    assert len(problems({}, list(range(ANSWER_NODES_MAX + 1)))) == 1
    assert len(problems({}, "x" * 300_000)) == 1
    assert len(problems({}, float("inf"))) == 1


def test_many_problems_are_cut_and_each_is_short() -> None:
    schema = {"required": [f"field_{n}" for n in range(100)], "const": "x" * 1_000}
    said = problems(schema, {})
    assert len(said) == PROBLEMS_MAX + 1
    assert said[-1] == "and 81 more"
    assert all(len(words) <= WORDS_CHARACTERS_MAX + 1 for words in said)


def test_formats_are_checked() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    assert problems(schema, {"at": "2026-01-01T10:00:00Z"}) == []
    assert problems(schema, {"at": "2026-01-01"}) == ["at: must be a date-time"]
