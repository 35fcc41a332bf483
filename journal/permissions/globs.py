r"""Globs: `*` stands for any characters, `?` for one, `\` takes its meaning from either; paths also know `**`.

Rule: a glob is matched in time that grows with the text, whatever the glob: rules are judged while a lock is held, and
the text is what a model wrote. A broad match (of rules that deny or ask) does not mind case or how Unicode spells.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

_PARTS = re.compile(r"\\(?P<plain>[*?\\])|(?P<any>\*+)|(?P<one>\?)|(?P<text>[^*?\\]+|\\)", re.DOTALL)
_SPECIAL = re.compile(r"[*?\\]")
ANY_FOLDERS = "**"
MARKS_MAX: Final = 100
# Each part as it stands, and folded.
Folders: TypeAlias = tuple[tuple[str, str], ...]


def glob_matches(glob: str, text: str, *, broad: bool = False) -> bool:
    """Whether the whole text is what the glob describes."""
    if _compiled(glob).fullmatch(text) is not None:
        return True
    return broad and _compiled_broad(glob).fullmatch(folded(text)) is not None


def literal(text: str) -> str:
    """The glob that matches this text and no other."""
    return _SPECIAL.sub(lambda special: f"\\{special[0]}", text)


def folders(path: str) -> Folders:
    """The folders of a path and what it names, read once for all the rules they are compared with."""
    return tuple((part, folded(part)) for part in path.split("/") if part not in ("", "."))


def folders_match(glob: Sequence[str], path: Folders, *, broad: bool = False) -> bool:
    """Whether a path is what the parts of a glob describe; `**` is any number of parts."""
    reached = _past_any(glob, {0})
    for part in path:
        stay = {at for at in reached if at < len(glob) and glob[at] == ANY_FOLDERS}
        step = {at + 1 for at in reached - stay if at < len(glob) and _part_matches(glob[at], part, broad=broad)}
        if not stay and not step:
            return False
        reached = _past_any(glob, stay | step)
    return len(glob) in reached


def any_of_each(glob: Sequence[str], parts: Folders, *, broad: bool = False) -> bool:
    """Whether there is a part for each that the glob wants: else no path of these parts is what it describes."""
    wanted = (want for want in glob if want != ANY_FOLDERS)
    return all(any(_part_matches(want, part, broad=broad) for part in parts) for want in wanted)


def _part_matches(glob: str, part: tuple[str, str], *, broad: bool) -> bool:
    text, as_folded = part
    if broad and _compiled_broad(glob).fullmatch(as_folded) is not None:
        return True
    # Folding takes no text of ASCII away from a glob that describes it.
    return not (broad and text.isascii()) and _compiled(glob).fullmatch(text) is not None


def _past_any(glob: Sequence[str], reached: set[int]) -> set[int]:
    """The places in the glob that are reached when each `**` may also be nothing."""
    further = set(reached)
    for at in reached:
        end = at
        while end < len(glob) and glob[end] == ANY_FOLDERS:
            end += 1
            further.add(end)
    return further


@lru_cache(maxsize=16)
def folded(text: str) -> str:
    """The text as broad matches compare it."""
    return unicodedata.normalize("NFKC", _few_marks(text)).casefold()


def _few_marks(text: str) -> str:
    """The text without the marks that are too many on one character: to order them takes the square of their number."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for char in text:
        marks = marks + 1 if _is_mark(char) else 0
        if marks <= MARKS_MAX:
            kept.append(char)
    return "".join(kept)


@lru_cache(maxsize=4_096)
def _is_mark(char: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) != 0


@lru_cache(maxsize=2_048)
def _compiled_broad(glob: str) -> re.Pattern[str]:
    return _compiled(folded(glob))


@lru_cache(maxsize=2_048)
def _compiled(glob: str) -> re.Pattern[str]:
    """The glob as an expression that never tries a second way: each part is taken where it is found first."""
    pieces = [""]
    for part in _PARTS.finditer(glob):
        if part["any"]:
            pieces.append("")
        else:
            pieces[-1] += "." if part["one"] else re.escape(part["plain"] or part["text"])
    first, *rest = pieces
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    return re.compile(first + "".join(f"(?>.*?{piece})" for piece in middle) + f".*{last}", re.DOTALL)
