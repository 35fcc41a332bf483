"""Canonical bytes: equal values, equal bytes; whatever is written can be read back."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwright.journal.canonical import (
    INTEGER_BITS_MAX,
    NESTING_LEVELS_MAX,
    NUL_SYMBOL,
    REPLACEMENT,
    TOO_DEEP,
    digest,
    digest_of,
    encode,
    repair,
    repair_text,
)
from turnwright.journal.codec import decode
from turnwright.journal.entries import StateUpdated
from turnwright.journal.errors import InvalidInput

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner, max_size=4)
    ),
    max_leaves=12,
)


def as_stored(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    body = StateUpdated(changes={"x": value}).body()
    payload = decode("state.updated", 1, body, required=True, thread="t", seq=1)
    assert isinstance(payload, StateUpdated)
    return payload.changes["x"]


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("plain", "plain"),
        ("a\x00b", f"a{NUL_SYMBOL}b"),
        ("\ud83d", REPLACEMENT),
        ("cut inside an emoji \ud83d", f"cut inside an emoji {REPLACEMENT}"),
        ("\ude00 the other half", f"{REPLACEMENT} the other half"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", REPLACEMENT * 2),
        ("\ud83d\ud83d\ude00\x00", f"{REPLACEMENT}\U0001f600{NUL_SYMBOL}"),
        ("👩‍👩‍👧‍👦 stays", "👩‍👩‍👧‍👦 stays"),
    ],
)
def test_text_that_no_store_can_hold_is_repaired_visibly(text: str, repaired: str) -> None:
    assert repair_text(text) == repaired
    assert repair_text(repaired) == repaired


@given(st.text(st.characters(exclude_categories=())))
def test_repaired_text_can_be_encoded_and_needs_no_second_repair(text: str) -> None:
    once = repair_text(text)
    assert once.encode().decode() == once
    assert "\x00" not in once
    assert repair_text(once) == once


@given(anything)
def test_any_value_is_stored_and_read_back_as_it_was_repaired(value: Any) -> None:  # noqa: ANN401
    once = repair(value)
    assert repair(once) == once
    assert as_stored(value) == once
    assert as_stored(once) == once


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_makes_no_difference(value: dict[str, int], random: Any) -> None:  # noqa: ANN401
    shuffled = list(value.items())
    random.shuffle(shuffled)
    assert encode(dict(shuffled)) == encode(value)
    assert digest_of(dict(shuffled)) == digest_of(value)


@given(st.dictionaries(st.text("\x00\u2400\ud800\ufffd", max_size=2), st.integers(), max_size=6))
def test_keys_that_meet_after_their_repair_stay_apart_whatever_their_order(value: dict[str, int]) -> None:
    repaired = repair(value)
    assert sorted(repaired.values()) == sorted(value.values())
    assert encode(repair(dict(reversed(value.items())))) == encode(repaired)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_json_has_no_name_for_becomes_its_name(number: float) -> None:
    assert as_stored([number]) == [str(number)]
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(number)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**300])
def test_integers_of_any_usual_size_are_kept_exactly(number: int) -> None:
    assert as_stored(number) == number


def test_an_integer_that_no_decoder_would_read_becomes_text() -> None:
    number = 1 << INTEGER_BITS_MAX
    assert as_stored(number) == hex(number)
    assert as_stored(number >> 1) == number >> 1


@pytest.mark.parametrize("levels", [NESTING_LEVELS_MAX, 199, 500, 900])
def test_a_value_nested_without_end_is_cut_where_it_can_still_be_read(levels: int) -> None:
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    stored = as_stored(repair(value))
    depth = 0
    while isinstance(stored, list):
        stored, depth = stored[0], depth + 1
    assert (depth, stored) == ((levels, "leaf") if levels <= NESTING_LEVELS_MAX else (NESTING_LEVELS_MAX, TOO_DEEP))


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), 1j])
def test_what_is_no_json_is_said_to_be_none(value: object) -> None:
    with pytest.raises(InvalidInput, match="no JSON value"):
        repair({"x": [value]})


def test_keys_that_are_no_text_become_text() -> None:
    assert repair({1: "a", "1": "b", None: "c"}) == {"1": "b", f"1{REPLACEMENT}": "a", "None": "c"}


def test_canonical_bytes_are_sorted_tight_and_utf_8() -> None:
    assert encode({"b": [1, 2.5, None], "a": "é"}) == '{"a":"é","b":[1,2.5,null]}'.encode()


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
@settings(max_examples=300)
def test_different_lists_of_parts_have_different_digests(first: list[bytes], second: list[bytes]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)


@given(anything)
def test_the_repaired_form_is_plain_json(value: Any) -> None:  # noqa: ANN401
    assert json.loads(encode(repair(value))) == repair(value)
