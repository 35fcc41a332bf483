"""The part of a text that shows why it was found.

Rule: parts of the text as it is, of which some are marked; nothing is added to it but an ellipsis where it was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from turnwright.journal.search.query import Query, Term
from turnwright.journal.search.words import Place, places_of

SNIPPET_CHARACTERS_MAX = 240
BEFORE_CHARACTERS_MAX = 60
MARKS_MAX = 200
CUT = "…"


@dataclass(frozen=True, slots=True)
class SnippetPart:
    """A piece of a text, and whether it is what was searched for."""

    text: str
    found: bool = False


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    term: int


def snippet_of(text: str, query: Query) -> tuple[SnippetPart, ...]:
    """The stretch of a text in which most of the query's terms occur; its beginning if none does."""
    marks = _marks(list(places_of(text)), query.terms)
    first = _best(marks)
    start = 0 if first is None else _back(text, marks[first].start)
    end = min(len(text), start + SNIPPET_CHARACTERS_MAX)
    if end < len(text):
        end = _whole_words(text, start, end)
    return tuple(_parts(text, start, end, [mark for mark in marks if mark.start >= start and mark.end <= end]))


def _marks(places: list[Place], terms: Sequence[Term]) -> list[_Mark]:
    """Where the terms occur, in order of place."""
    words = [place.word for place in places]
    found = (
        _Mark(places[at].start, places[at + len(term.words) - 1].end, n)
        for at in range(len(words))
        for n, term in enumerate(terms)
        if _stands(words, at, term)
    )
    return list(islice(found, MARKS_MAX))


def _stands(words: list[str], at: int, term: Term) -> bool:
    if words[at] != term.words[0] and not (term.begins and len(term.words) == 1):
        return False
    last = at + len(term.words) - 1
    if last >= len(words) or tuple(words[at:last]) != term.words[:-1]:
        return False
    return words[last] == term.words[-1] or (term.begins and words[last].startswith(term.words[-1]))


def _best(marks: list[_Mark]) -> int | None:
    """The mark with which the window begins that holds most terms; the first of several."""

    def terms_from(n: int) -> int:
        reach = marks[n].start + SNIPPET_CHARACTERS_MAX - BEFORE_CHARACTERS_MAX
        return len({mark.term for mark in marks[n:] if mark.end <= reach})

    return max(range(len(marks)), key=lambda n: (terms_from(n), -n), default=None)


def _back(text: str, at: int) -> int:
    """A little before, at the beginning of a word if there is one."""
    start = at - BEFORE_CHARACTERS_MAX
    if start <= 0:
        return 0
    gap = next((n for n in range(start, at) if text[n].isspace()), None)
    return start if gap is None else gap + 1


def _whole_words(text: str, start: int, end: int) -> int:
    gap = next((n for n in range(end, start + SNIPPET_CHARACTERS_MAX * 3 // 4, -1) if text[n].isspace()), None)
    return end if gap is None else gap


def _parts(text: str, start: int, end: int, marks: list[_Mark]) -> list[SnippetPart]:
    parts: list[SnippetPart] = []
    at, before = start, CUT if start else ""
    for mark in marks:
        if mark.start < at or mark.end <= at:
            continue
        if before or mark.start > at:
            parts.append(SnippetPart(before + text[at : mark.start]))
        parts.append(SnippetPart(text[mark.start : mark.end], found=True))
        at, before = mark.end, ""
    rest = before + text[at:end] + (CUT if end < len(text) else "")
    return [*parts, SnippetPart(rest)] if rest else parts
