"""Ids: exact, of any printable text, and never the same for two different things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import (
    ID_PART_CHARACTERS_MAX,
    MAIN_THREAD,
    SessionKey,
    ThreadKey,
    checked_request_id,
    turn_id,
)

NASTY = [
    "a/b", "a:b", "..", "../..", "a,b", '","', '"', "\\", "[null]", "null", "None", "anonymous", " ", "a ", "%2F", "~",
    "é", "e\u0301", "👩‍👩‍👧‍👦", "🏳️‍🌈", "\u202egnp.exe", "x" * ID_PART_CHARACTERS_MAX, "👩‍👩‍👧‍👦"[:7] * 28,
]  # fmt: skip
REFUSED = ["", "x" * (ID_PART_CHARACTERS_MAX + 1), "a\x00", "a\nb", "\t", "\x7f", "\ud800", "\u2028"]
parts = st.sampled_from(NASTY) | st.text('/:"\\,[]ab', min_size=1, max_size=4)
users = st.none() | parts
keys = st.builds(ThreadKey, parts, users, parts, parts, parts)


@pytest.mark.parametrize("part", NASTY)
def test_a_part_may_be_any_printable_text_of_up_to_200_characters(part: str) -> None:
    key = ThreadKey(part, part, part, part, part).checked()
    assert ThreadKey.parse(key.canonical) == key
    assert checked_request_id(part) == part


@pytest.mark.parametrize(
    "part", ["", "x" * (ID_PART_CHARACTERS_MAX + 1), "a\x00", "a\nb", "\t", "\x7f", "\ud800", "\u2028"]
)
def test_a_part_that_is_empty_too_long_or_holds_control_characters_is_refused(part: str) -> None:
    for place in range(5):
        key = ThreadKey(*(part if n == place else "ok" for n in range(5)))
        with pytest.raises(InvalidInput):
            key.checked()
    with pytest.raises(InvalidInput):
        checked_request_id(part)


def test_the_refusal_names_the_part_and_the_character() -> None:
    with pytest.raises(InvalidInput, match=r"agent must not hold control characters, found U\+0007"):
        ThreadKey("t", None, "be\x07l", "s").checked()


@given(keys, keys)
def test_two_keys_share_a_canonical_form_only_when_they_are_the_same(one: ThreadKey, other: ThreadKey) -> None:
    assert (one.canonical == other.canonical) == (one == other)
    assert (one.session_key.canonical == other.session_key.canonical) == (one.session_key == other.session_key)
    assert one.canonical != other.session_key.canonical


@given(keys, keys, parts, parts)
def test_two_turns_share_an_id_only_when_thread_and_request_are_the_same(
    one: ThreadKey, other: ThreadKey, request: str, another: str
) -> None:
    same = (one, request) == (other, another)
    assert (turn_id(one, request) == turn_id(other, another)) == same


@given(keys)
def test_a_key_is_parsed_back_from_its_canonical_form(key: ThreadKey) -> None:
    assert ThreadKey.parse(key.canonical) == key


def test_nobody_is_not_a_user_of_that_name() -> None:
    spellings = {SessionKey("t", user, "s").canonical for user in (None, "None", "null", "anonymous", "")}
    assert len(spellings) == 5


@given(keys)
def test_a_sessions_log_is_a_thread_that_no_caller_can_name(key: ThreadKey) -> None:
    log = key.session_key.log
    assert log.is_session_log
    assert not key.is_session_log
    assert log.session_key == key.session_key
    with pytest.raises(InvalidInput):
        log.checked()


def test_the_thread_is_main_unless_it_is_named() -> None:
    assert ThreadKey("t", None, "a", "s").thread == MAIN_THREAD
