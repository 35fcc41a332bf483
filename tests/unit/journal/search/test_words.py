"""Whatever somebody writes is found by any word of it, and no two stores need to agree on what a word is."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.search.query import Term, parse_query, spelled
from turnwright.journal.search.words import (
    TEXT_CHARACTERS_MAX,
    WORD_CHARACTERS_MAX,
    has_words,
    places_of,
    words_of,
)

TEXTS = st.text(max_size=80) | st.text(alphabet="aÄß ﬁ½日本ไทยक्षि한\u0301İ²-_\"*'\u00ad", max_size=40)

SAME = {
    "an umlaut and its plain letter": ("Müller", "muller"),
    "a sharp s and two": ("Straße", "STRASSE"),
    "a letter with its accent behind it": ("cafe\u0301", "café"),
    "a ligature": ("ﬁne", "fine"),
    "a dotted capital I": ("İstanbul", "istanbul"),
    "a final sigma": ("ΣΊΣΥΦΟΣ", "σισυφος"),
    "a word with a soft hyphen": ("Donau\u00addampf", "donaudampf"),
    "wide letters": ("\uff21\uff22\uff23\uff11\uff12", "abc12"),
    "pointed Hebrew": ("שָׁלוֹם", "שלום"),
}


@pytest.mark.parametrize(("written", "asked"), SAME.values(), ids=SAME)
def test_these_are_the_same_word(written: str, asked: str) -> None:
    assert words_of(written) == words_of(asked)
    assert len(words_of(written)) == 1


def test_vowels_of_an_indian_script_tell_words_apart() -> None:
    assert words_of("कि") != words_of("का")


def test_each_character_is_a_word_where_no_spaces_are_written() -> None:
    assert words_of("東京タワー2024年 ok") == [*"東京タワー", "2024", "年", "ok"]
    assert len(words_of("ไทย")) == 3


def test_words_are_letters_and_digits_of_any_script() -> None:
    assert words_of("Hello, wörld_2! x² и ½ — 한국어…") == [
        "hello",
        "world",
        "2",
        "x2",
        "и",
        "1",
        "2",
        *words_of("한국어"),
    ]


@given(TEXTS)
def test_a_text_is_found_by_each_of_its_words(text: str) -> None:
    whole = spelled(words_of(text))
    for place in places_of(text):
        for asked in (place.word, f'"{place.word}"', place.word[:1] + "*"):
            for term in parse_query(asked).terms:
                assert term.needle in whole, (asked, whole)


@given(TEXTS)
def test_words_of_words_are_the_same_words(text: str) -> None:
    words = words_of(text)
    assert words_of(" ".join(words)) == words
    assert words_of(spelled(words)) == words


@given(TEXTS)
def test_places_are_those_of_the_same_words_in_order(text: str) -> None:
    places = list(places_of(text))
    assert [place.word for place in places] == words_of(text)
    assert all(a.end <= b.end and a.start <= b.start for a, b in pairwise(places))
    assert has_words(text) == bool(places)


@given(TEXTS)
def test_a_word_has_nothing_in_it_that_a_store_could_take_for_more(text: str) -> None:
    for word in words_of(text):
        assert 0 < len(word) <= WORD_CHARACTERS_MAX
        assert all(c.isalnum() and not c.isupper() if c.isascii() else not c.isspace() for c in word)


def test_what_is_indexed_of_a_text_is_bounded() -> None:
    assert len(words_of("a " * TEXT_CHARACTERS_MAX)) == TEXT_CHARACTERS_MAX // 2
    assert [len(word) for word in words_of("x" * 1_000)] == [WORD_CHARACTERS_MAX]
    assert parse_query("x" * 900).terms == (Term(("x" * WORD_CHARACTERS_MAX,)),)
