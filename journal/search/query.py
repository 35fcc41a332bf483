"""What is asked: words that must all occur, "phrases", -words that must not, and begin* of words.

Rule: whatever is typed means something, and what has no word in it means nothing; nothing typed reaches a store but
words of ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from turnwright.journal.errors import InvalidInput
from turnwright.journal.search.words import words_of

QUERY_CHARACTERS_MAX = 1_000
TERMS_MAX = 32
GAP = " "
_PIECE = re.compile(r'(?P<without>-?)(?:"(?P<phrase>[^"]*)"?|(?P<bare>[^\s"]+))(?P<begin>\*?)')


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand one behind the other; of the last only the beginning if `begins`."""

    words: tuple[str, ...]
    begins: bool = False

    @property
    def needle(self) -> str:
        """What stands in a text as `spelled` where the term occurs, and nowhere else."""
        spelling = spelled(self.words)
        return spelling.removesuffix(GAP) if self.begins else spelling


@dataclass(frozen=True, slots=True)
class Query:
    """What must occur, and what must not."""

    terms: tuple[Term, ...]
    without: tuple[Term, ...] = ()


def spelled(words: tuple[str, ...] | list[str]) -> str:
    """Words as one text in which each has a gap of its own on both sides, so that any of them is found by itself."""
    return "".join(f"{GAP}{word}{GAP}" for word in words)


def parse_query(text: str) -> Query:
    """What a text asks for.

    Raises:
        InvalidInput: there is no word in it that must occur, or it is too long.
    """
    if len(text) > QUERY_CHARACTERS_MAX:
        raise InvalidInput(f"a search of {len(text)} characters is too long; {QUERY_CHARACTERS_MAX} are allowed")
    wanted: dict[Term, None] = {}
    without: dict[Term, None] = {}
    for piece in _PIECE.finditer(text):
        bare = piece["bare"] or ""
        words = tuple(words_of(piece["phrase"] or bare))
        begins = bool(piece["begin"]) or (bare.endswith("*") and bool(words))
        if words:
            (without if piece["without"] else wanted)[Term(words, begins)] = None
    if not wanted:
        raise InvalidInput("there is no word to search for; give one with a letter or digit in it, without a minus")
    if len(wanted) + len(without) > TERMS_MAX:
        raise InvalidInput(f"{len(wanted) + len(without)} words and phrases are too many; {TERMS_MAX} are allowed")
    return Query(tuple(wanted), tuple(without))
