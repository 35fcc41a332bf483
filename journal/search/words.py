"""Words of a text, the same for every store, for what is indexed and for what is asked.

Rule: each character stands for itself folded (compatibility form, no case, no accents), whatever stands beside it, so
a place in the folded text is a place in the text. A word is a run of letters and digits; in scripts that put no space
between words each character is one. Stores index these words as they are and split nothing themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

TEXT_CHARACTERS_MAX = 64 * 1024
WORD_CHARACTERS_MAX = 64
UNSPACED = (
    (0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3040, 0x312F),
    (0x31A0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
"""Thai, Lao, Tibetan, Burmese, Khmer, and what Chinese and Japanese are written with."""
_INVISIBLE = frozenset(
    {0x00AD, 0x034F, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)
_FOLDS_MAX = 10
_ASCII = str.maketrans({chr(c): chr(c).lower() if chr(c).isalnum() else " " for c in range(128)})


class Place(NamedTuple):
    """A word and where it stands in its text."""

    word: str
    start: int
    end: int


class _Folds(dict[int, str]):
    """What each character becomes: parts of words, nothing, or a gap; made when first asked for."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(code)
        return folded


def words_of(text: str) -> list[str]:
    """The words of a text, in order, of as much of it as is indexed."""
    text = text[:TEXT_CHARACTERS_MAX]
    folded = text.translate(_ASCII) if text.isascii() else text.translate(_FOLDS)
    return [word[:WORD_CHARACTERS_MAX] for word in folded.split(" ") if word]


def has_words(text: str) -> bool:
    """Whether anything of the text can be found."""
    return any(_FOLDS[ord(character)].strip(" ") for character in text[:TEXT_CHARACTERS_MAX])


def places_of(text: str) -> Iterator[Place]:
    """The same words, each with where it stands."""
    word, start, end = "", 0, 0
    for at, character in enumerate(text[:TEXT_CHARACTERS_MAX]):
        for part in _FOLDS[ord(character)]:
            if part != " ":
                start = start if word else at
                word, end = word + part, at + 1
            elif word:
                yield Place(word[:WORD_CHARACTERS_MAX], start, end)
                word = ""
    if word:
        yield Place(word[:WORD_CHARACTERS_MAX], start, end)


def _fold(code: int) -> str:
    if code in _INVISIBLE:
        return ""
    folded, before = _once(chr(code)), ""
    for _ in range(_FOLDS_MAX):
        if folded == before:
            break
        folded, before = "".join(map(_once, folded)), folded
    return re.sub(" +", " ", "".join(map(_part, folded)))


def _once(character: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())


def _part(character: str) -> str:
    """Accents go; marks that stand for vowels stay, or words of Indian scripts would lose what tells them apart."""
    mark = unicodedata.category(character).startswith("M")
    if mark and unicodedata.combining(character):
        return ""
    if ord(character) in _INVISIBLE:
        return ""
    if not (mark or character.isalnum()):
        return " "
    unspaced = any(first <= ord(character) <= last for first, last in UNSPACED)
    return f" {character} " if unspaced else character


_FOLDS = _Folds()
