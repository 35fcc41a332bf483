"""A document from elsewhere, read strictly: what is odd in it is an error that names its place.

Rule: nothing is guessed and everything is bounded. A place knows its path, such as `messages[3].content[0].type`,
so that whoever wrote the document finds what is meant.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NoReturn, TypeAlias

from turnwright.journal.canonical import INTEGER_BITS_MAX, repair, repair_text
from turnwright.journal.errors import InvalidInput

DOCUMENT_BYTES_MAX: Final = 256 * 1024 * 1024
LEVELS_MAX: Final = 60
VALUES_MAX: Final = 2_000_000
SHOWN_CHARACTERS_MAX: Final = 60
# Before each value but the outermost stands one of these, outside of texts; within an empty list or object none does.
SIGNS: Final = b",[{"
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|,|[\[{](?![ \t\r\n]*+[\]}])', re.DOTALL)
Trail: TypeAlias = "tuple[Trail | None, str | int]"
_WORDS: Final[Mapping[type, str]] = {
    str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a document, and where it stands."""

    value: Any
    path: str = ""

    def wrong(self, what: str) -> InvalidInput:
        """The error that says what is wrong here."""
        return InvalidInput(f"{self.path or 'the document'}: {what}")

    def expected(self, what: str) -> InvalidInput:
        """The error that says what should stand here."""
        shown = "nothing" if self.value is None else _WORDS.get(type(self.value), type(self.value).__name__)
        if isinstance(self.value, str):
            shown = repr(self.value[:SHOWN_CHARACTERS_MAX])
        return self.wrong(f"{what} is expected here, this is {shown}")

    def part(self, key: str) -> Place:
        """What stands under a key; None as its value when nothing does."""
        return Place(self.fields().get(key), f"{self.path}.{key}" if self.path else key)

    def find(self, key: str) -> Place | None:
        """What stands under a key, if anything does."""
        found = self.part(key)
        return None if found.value is None else found

    def fields(self) -> dict[str, Any]:
        """The object that stands here. Raises `InvalidInput`."""
        if not isinstance(self.value, dict):
            raise self.expected("an object")
        return self.value

    def items(self) -> list[Place]:
        """What is in the list that stands here. Raises `InvalidInput`."""
        if not isinstance(self.value, list):
            raise self.expected("a list")
        return [Place(item, f"{self.path}[{n}]") for n, item in enumerate(self.value)]

    def entries(self) -> list[tuple[str, Place]]:
        """The keys of the object that stands here, with what is under them. Raises `InvalidInput`."""
        return [(key, self.part(key)) for key in self.fields()]

    def text(self) -> str:
        """The text that stands here. Raises `InvalidInput`."""
        if not isinstance(self.value, str):
            raise self.expected("text")
        return self.value

    def word(self, key: str) -> str | None:
        """The text under a key, if there is any. Raises `InvalidInput`."""
        found = self.find(key)
        return None if found is None else found.text()

    def flag(self, key: str) -> bool:
        """The switch under a key; off if there is none. Raises `InvalidInput`."""
        found = self.find(key)
        if found is not None and not isinstance(found.value, bool):
            raise found.expected("true or false")
        return bool(found is not None and found.value)


def document(given: str | bytes | Mapping[str, Any] | list[Any], noted: Callable[[str, str], None]) -> Place:
    """The document, from its text or from what was read of it already.

    Args:
        given: JSON, or what it stands for.
        noted: is told where characters were replaced that no store can hold.

    Raises:
        InvalidInput: it is no JSON, or larger or deeper than can be taken.
    """
    if isinstance(given, str | bytes):
        given = parsed(given)
    _check(given, noted)
    return Place(repair(given, LEVELS_MAX + 1))


def parsed(given: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """What JSON stands for. Raises `InvalidInput` if it is none."""
    if len(given) > DOCUMENT_BYTES_MAX:
        raise InvalidInput(f"the document has {len(given):,} bytes, {DOCUMENT_BYTES_MAX:,} are the most")
    check_size(given)
    try:
        text = given.decode("utf-8-sig") if isinstance(given, bytes) else given.removeprefix("\ufeff")
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the document is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError:
        raise InvalidInput(f"the document is nested more than {LEVELS_MAX} levels deep") from None
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(f"the document is no JSON: {error}") from error


def check_size(text: str | bytes) -> None:
    """Count the values before they are made, since one of two bytes takes fifty in memory.

    Raises:
        InvalidInput: there are too many.
    """
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if sum(raw.count(sign) for sign in SIGNS) <= VALUES_MAX:
        return
    signs = (token for token in _TOKEN.finditer(raw) if raw[token.start()] in SIGNS)
    if next(islice(signs, VALUES_MAX, None), None) is not None:
        raise _too_many()


def _too_many() -> InvalidInput:
    return InvalidInput(f"the document holds more than {VALUES_MAX:,} values")


def _no_number(word: str) -> NoReturn:
    raise InvalidInput(f"the document is no JSON: {word} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise InvalidInput(f"the document has the key {twice[:SHOWN_CHARACTERS_MAX]!r} twice in one object")
    return made


def _check(given: object, noted: Callable[[str, str], None]) -> None:
    """Walk over everything in it, without recursion: what is refused for its depth must not end the stack first."""
    waiting: list[tuple[object, Trail | None, int]] = [(given, None, 0)]
    seen = 0
    while waiting:
        value, trail, level = waiting.pop()
        seen += 1
        if level > LEVELS_MAX:
            raise InvalidInput(f"{_path(trail)}: nested more than {LEVELS_MAX} levels deep")
        for key, item in _within(value, trail, noted):
            if seen + len(waiting) >= VALUES_MAX:  # what waits for its turn takes far more room than the document
                raise _too_many()
            waiting.append((item, (trail, key), level + 1))


def _within(
    value: object, trail: Trail | None, noted: Callable[[str, str], None]
) -> Iterator[tuple[str | int, object]]:
    match value:
        case str():
            if repair_text(value) is not value:
                noted(_path(trail), "characters that no store can hold were replaced by visible ones")
        case bool() | None:
            pass
        case int() if value.bit_length() > INTEGER_BITS_MAX:
            raise InvalidInput(f"{_path(trail)}: the number has too many digits")
        case float() if not math.isfinite(value):
            raise InvalidInput(f"{_path(trail)}: {value} is no JSON number")
        case Mapping():
            yield from _members(value, trail)
        case list() | tuple():
            yield from enumerate(value)
        case int() | float():
            pass
        case _:
            raise InvalidInput(f"{_path(trail)}: {type(value).__name__} is no JSON value")


def _members(value: Mapping[Any, object], trail: Trail | None) -> Iterator[tuple[str, object]]:
    for key, item in value.items():
        if not isinstance(key, str) or repair_text(key) is not key:
            raise InvalidInput(f"{_path(trail)}: {str(key)[:SHOWN_CHARACTERS_MAX]!r} can be no key")
        yield key, item


def _path(trail: Trail | None) -> str:
    parts: list[str] = []
    while trail is not None:
        trail, key = trail
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key[:SHOWN_CHARACTERS_MAX]}")
    return "".join(reversed(parts)).removeprefix(".") or "the document"
