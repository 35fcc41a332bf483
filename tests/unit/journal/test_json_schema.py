"""A schema that may be asked with, and answers to it: bounded, and told in words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from turnwright.journal.json_schema import ANSWER_NODES_MAX, PATTERNS_MAX, PROBLEMS_MAX, check_schema, problems
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


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"items": schema}}}


TOO_MUCH = ["is too much for what the schema compares it with; give less at once"]


@pytest.mark.parametrize(
    "each",
    [
        {"allOf": [{"type": "string"}] * 900},
        {"anyOf": [{"const": n} for n in range(900)]},
        {"dependentRequired": {"b": [f"n{n}" for n in range(5_000)]}},
    ],
)
def test_an_answer_is_compared_with_a_limited_number_of_things(each: dict[str, Any]) -> None:
    assert check_schema(listed(each)) is None
    assert problems(listed(each), {"a": [{"b": 1}] * 400}) == TOO_MUCH


def test_a_long_list_of_what_forms_are_made_of_is_no_problem() -> None:
    each = {"type": "integer", "minimum": 0, "maximum": 9_999, "enum": list(range(10_000))}
    assert problems(listed(each), {"a": list(range(ANSWER_NODES_MAX - 3))}) == []


def test_thousands_of_missing_values_are_told_at_once() -> None:
    schema = {"type": "object", "required": [f"n{n}" for n in range(5_000)]}
    assert check_schema(schema) is None
    assert problems(schema, {}) == [*(f"n{n} is missing" for n in range(PROBLEMS_MAX)), "and 4980 more"]


@pytest.mark.parametrize(("of", "value"), [(0.5, 2**13_000), (2**13_000, 0.5)])
def test_a_number_too_large_to_be_divided_does_not_fit(of: float, value: float) -> None:
    assert problems({"properties": {"a": {"multipleOf": of}}}, {"a": value})


def test_a_schema_has_a_limited_number_of_patterns() -> None:
    def with_patterns(count: int) -> dict[str, Any]:
        return {"properties": {f"a{n}": {"items": {"pattern": f"^{n}$"}} for n in range(count)}}

    assert check_schema(with_patterns(PATTERNS_MAX)) is None
    assert check_schema(with_patterns(PATTERNS_MAX + 1)) == (
        f"the schema has too many patterns: at most {PATTERNS_MAX} different ones"
    )


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"enum": [1, [2, {"b": 3.0}]]}, 1.0, True),
        ({"enum": [1, [2, {"b": 3.0}]]}, [2.0, {"b": 3}], True),
        ({"enum": [1]}, True, False),
        ({"enum": [0.5, "1", None]}, 1, False),
        ({"uniqueItems": True}, [1, True, "1", [1], None], True),
        ({"uniqueItems": True}, [{"b": 1, "c": 2}, {"c": 2.0, "b": 1}], False),
        ({"uniqueItems": False}, [1, 1], True),
    ],
)
def test_values_are_the_same_as_json_says_and_not_as_python_does(
    schema: dict[str, Any],
    value: object,
    fits: bool,
) -> None:
    assert (problems({"properties": {"a": schema}}, {"a": value}) == []) is fits
