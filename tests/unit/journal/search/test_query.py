"""Whatever is typed into a search box means words of ours, or is refused in a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.errors import InvalidInput
from turnwright.journal.search.query import QUERY_CHARACTERS_MAX, TERMS_MAX, Query, Term, parse_query
from turnwright.journal.search.ranking import SCALE, rank_of
from turnwright.journal.search.words import words_of

A, B, AB = Term(("a",)), Term(("b",)), Term(("a", "b"))
MEANINGS = {
    "a b": Query((A, B)),
    "A a a": Query((A,)),
    '"a b"': Query((AB,)),
    '"a b': Query((AB,)),
    "a-b": Query((AB,)),
    "a -b": Query((A,), (B,)),
    'b -"a b"': Query((B,), (AB,)),
    "a*": Query((Term(("a",), begins=True),)),
    '"a b"*': Query((Term(("a", "b"), begins=True),)),
    "b -a*": Query((B,), (Term(("a",), begins=True),)),
    "東京": Query((Term(("東", "京")),)),
    "a AND NOT b": Query((A, Term(("and",)), Term(("not",)), B)),
    "a - * ^ : () b": Query((A, B)),
    "near(a": Query((Term(("near", "a")),)),
}


@pytest.mark.parametrize(("typed", "meant"), MEANINGS.items(), ids=MEANINGS)
def test_what_is_typed_means(typed: str, meant: Query) -> None:
    assert parse_query(typed) == meant


@pytest.mark.parametrize("typed", ["", "  ", '"', "-", "-a", "* ^ :", "😀", '-"a b"', "\x00\ud800"])
def test_without_a_word_that_must_occur_there_is_nothing_to_search_for(typed: str) -> None:
    with pytest.raises(InvalidInput, match="no word to search for"):
        parse_query(typed)


def test_a_query_is_bounded() -> None:
    with pytest.raises(InvalidInput, match="too long"):
        parse_query("a" * (QUERY_CHARACTERS_MAX + 1))
    with pytest.raises(InvalidInput, match="too many"):
        parse_query(" ".join(map(str, range(TERMS_MAX + 1))))


@given(st.text(max_size=200))
def test_what_comes_of_anything_typed_are_words(typed: str) -> None:
    try:
        query = parse_query(typed)
    except InvalidInput:
        return
    for term in (*query.terms, *query.without):
        assert list(term.words) == words_of(" ".join(term.words))
        assert term.words


def test_more_occurrences_in_fewer_words_are_better_and_no_rank_is_beyond_one() -> None:
    assert rank_of([2], 100) > rank_of([1], 100) > rank_of([1], 1_000) > 0
    assert rank_of([1, 1], 100) > rank_of([1, 0], 100)
    assert rank_of([10**6] * 3, 1) <= SCALE
