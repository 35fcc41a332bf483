"""JSON schemas of questions: what one may say, and whether an answer fits it.

Rule: validating takes no more time than the limits here allow, reaches for nothing outside, and never
raises. So references lead to the schema's own definitions and are followed a limited number of times, and
patterns are matched by an engine that does not backtrack. A schema that may not be is refused when it is used
first, not when somebody answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from jsonschema import FormatChecker, exceptions
from jsonschema.validators import Draft202012Validator, extend
from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from turnwright.journal.canonical import encode
from turnwright.journal.json_schema_words import in_words

SCHEMA_BYTES_MAX: Final = 64 * 1024
SCHEMA_NODES_MAX: Final = 1_000
SCHEMA_LEVELS_MAX: Final = 30
REFERENCES_FOLLOWED_MAX: Final = 2_000
# What validating may take: a keyword on a value is one step, and so are each problem and 500 values it lists.
STEPS_MAX: Final = 50_000
LISTED_A_STEP: Final = 500
# Each takes about five frames of the interpreter's thousand, and a stack that runs out inside the library of references
# ends as a panic, which is no Exception.
WITHIN_MAX: Final = 120
PATTERNS_MAX: Final = 50
ANSWER_BYTES_MAX: Final = 256 * 1024
ANSWER_NODES_MAX: Final = 1_000
PATTERN_CHARACTERS_MAX: Final = 500
PROBLEMS_MAX: Final = 20
# Older ones differ in what questions hardly use; they are read as the newest.
DIALECTS: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
)

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Any]

_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_DEFINITIONS = ("$defs", "definitions")
# Base addresses, references that depend on the caller, and regular expressions of Python.
_REFUSED = frozenset(
    {
        "$id",
        "$schema",
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveAnchor",
        "$recursiveRef",
        "patternProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_ONLY_AT_THE_TOP = ("$id", "$schema")


class _Refused(Exception):
    """The schema may not say this; the message tells its author."""


class _Endless(Exception):
    """Validating takes too many references, or too deep ones."""


class _TooMuch(Exception):
    """Validating takes too many steps."""


def check_schema(schema: object) -> str | None:
    """Why this cannot be the schema of a question, in a sentence; None when it can."""
    try:
        _checked(schema)
    except _Refused as refused:
        return str(refused)
    return None


def problems(schema: Mapping[str, Any], value: object) -> list[str]:
    """What is wrong with a value, each in words for the person who gave it; empty when it fits.

    A schema that `check_schema` would refuse is one problem, so nothing passes because of it.
    """
    refused = check_schema(schema)
    if refused is not None:
        return [f"nothing fits here: {refused}"]
    if not _is_json(value, ANSWER_BYTES_MAX) or _more_nodes(value, ANSWER_NODES_MAX):
        return [f"must be JSON of at most {ANSWER_BYTES_MAX:,} bytes and {ANSWER_NODES_MAX:,} values"]
    try:
        said = list(dict.fromkeys(_said(_body(schema), value)))
    except _Endless:
        return ["is nested too deeply"]
    except _TooMuch:
        return ["is too much for what the schema compares it with; give less at once"]
    more = len(said) - PROBLEMS_MAX
    return said[:PROBLEMS_MAX] + ([f"and {more} more"] if more > 0 else [])


def _said(body: Mapping[str, Any], value: object) -> list[str]:
    _FOLLOWED.set(0)
    _STEPS.set(0)
    _WITHIN.set(0)
    try:
        errors = _Validator(body, format_checker=_FORMATS).iter_errors(value)
        return [words for error in errors for words in in_words(error)]
    except RecursionError as error:
        raise _Endless from error


def _checked(schema: object) -> None:
    if not isinstance(schema, Mapping):
        raise _Refused("a schema is a JSON object")
    if not _is_json(schema, SCHEMA_BYTES_MAX):
        raise _Refused(f"the schema must be JSON of at most {SCHEMA_BYTES_MAX:,} bytes")
    if str(schema.get("$schema", DIALECTS[0])).rstrip("#") not in DIALECTS:
        raise _Refused(f"$schema must be left out or be {DIALECTS[0]}")
    body = _body(schema)
    _count(body, body, 0, SCHEMA_NODES_MAX)
    _check_patterns(body)
    try:
        Draft202012Validator.check_schema(body)
        _said(body, {})
    except exceptions.SchemaError as error:
        raise _Refused(f"the schema is not valid: {'; '.join(in_words(error))}") from None
    except _Endless:
        raise _Refused("the schema's references lead back to themselves without end") from None
    except _TooMuch:
        raise _Refused(f"the schema takes more than {STEPS_MAX:,} steps to check an empty answer") from None


def _body(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in _ONLY_AT_THE_TOP}


def _count(schema: object, root: Mapping[str, Any], level: int, left: int) -> int:
    """How many more schemas there may be after this one and what is in it."""
    if left <= 0:
        raise _Refused(f"the schema is too large: at most {SCHEMA_NODES_MAX:,} parts")
    if level > SCHEMA_LEVELS_MAX:
        raise _Refused(f"the schema is nested too deeply: at most {SCHEMA_LEVELS_MAX} levels")
    left -= 1
    if not isinstance(schema, Mapping):
        return left
    _check_keywords(schema)
    if "$ref" in schema:
        _check_reference(str(schema["$ref"]), root)
    for part in _parts(schema):
        left = _count(part, root, level + 1, left)
    return left


def _check_keywords(schema: Mapping[str, Any]) -> None:
    for name in schema:
        if name in _REFUSED:
            raise _Refused(f"a question's schema cannot use {name}")
    pattern = schema.get("pattern", "")
    if not isinstance(pattern, str) or len(pattern) > PATTERN_CHARACTERS_MAX:
        raise _Refused(f"pattern must be text of at most {PATTERN_CHARACTERS_MAX} characters")


def _check_patterns(body: Mapping[str, Any]) -> None:
    """Check that the patterns can be used; each may take megabytes and a tenth of a second to be read."""
    patterns = set(_patterns(body))
    if len(patterns) > PATTERNS_MAX:
        raise _Refused(f"the schema has too many patterns: at most {PATTERNS_MAX} different ones")
    for pattern in sorted(patterns):
        try:
            _matcher(pattern)
        except SchemaError:
            raise _Refused(f"the pattern {pattern!r} cannot be used: no look-around, no back-references") from None


def _patterns(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from [schema["pattern"]] if "pattern" in schema else []
        for part in _parts(schema):
            yield from _patterns(part)


def _parts(schema: Mapping[str, Any]) -> Iterator[object]:
    for name in _NAMED:
        named = schema.get(name)
        yield from named.values() if isinstance(named, Mapping) else ()
    for name in _LISTED:
        listed = schema.get(name)
        yield from listed if isinstance(listed, list | tuple) else ()
    for name in _SINGLE:
        if name in schema:
            yield schema[name]


def _check_reference(reference: str, root: Mapping[str, Any]) -> None:
    place = reference.split("/")
    if len(place) != 3 or place[0] != "#" or place[1] not in _DEFINITIONS:  # noqa: PLR2004 - "#", "$defs", a name
        raise _Refused(f"the reference {reference!r} must lead to a definition of the schema itself: '#/$defs/name'")
    definitions = root.get(place[1])
    name = unquote(place[2]).replace("~1", "/").replace("~0", "~")
    if not isinstance(definitions, Mapping) or name not in definitions:
        raise _Refused(f"the reference {reference!r} leads nowhere")


def _is_json(value: object, bytes_max: int) -> bool:
    try:
        return len(encode(value)) <= bytes_max
    except (TypeError, ValueError, RecursionError):
        return False


def _more_nodes(value: object, nodes_max: int) -> bool:
    waiting, seen = [value], 0
    while waiting:
        seen += 1
        if seen > nodes_max:
            return True
        match waiting.pop():
            case Mapping() as named:
                waiting += named.values()
            case list() | tuple() as listed:
                waiting += listed
    return False


@lru_cache(maxsize=2 * PATTERNS_MAX)
def _matcher(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern))


def _stepping(keyword: Keyword) -> Keyword:
    """The keyword, counting what it takes; what it cannot compute with does not fit."""

    def step(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON values
        _take(1 + (len(wanted) // LISTED_A_STEP if isinstance(wanted, list | dict) else 0))
        within = _WITHIN.get() + 1
        if within > WITHIN_MAX:
            raise _Endless
        _WITHIN.set(within)
        try:
            for error in keyword(validator, wanted, value, schema) or ():
                _take(1)
                yield error
        except OverflowError:
            yield exceptions.ValidationError("is too large a number")
        finally:
            _WITHIN.set(within - 1)

    return step


def _take(steps: int) -> None:
    taken = _STEPS.get() + steps
    if taken > STEPS_MAX:
        raise _TooMuch
    _STEPS.set(taken)


def _reference(validator: Any, reference: str, value: object, schema: object) -> Iterator[Any]:  # noqa: ANN401
    followed = _FOLLOWED.get() + 1
    if followed > REFERENCES_FOLLOWED_MAX:
        raise _Endless
    _FOLLOWED.set(followed)
    yield from Draft202012Validator.VALIDATORS["$ref"](validator, reference, value, schema) or ()


def _pattern(_: object, pattern: str, value: object, __: object) -> Iterator[exceptions.ValidationError]:
    if not isinstance(value, str):
        return
    try:
        _matcher(pattern).validate_python(value)
    except ValidationError:
        yield exceptions.ValidationError(f"{value!r} does not match {pattern!r}")


def _required(_: object, names: list[str], value: object, __: object) -> Iterator[exceptions.ValidationError]:
    """One error for all that is missing: its words name them all."""
    if isinstance(value, dict) and not set(names) <= set(value):
        yield exceptions.ValidationError("is not complete")


def _enum(_: object, listed: list[Any], value: object, __: object) -> Iterator[exceptions.ValidationError]:
    if encode(_number_as_is(value)) not in _each_encoded(encode(listed)):
        yield exceptions.ValidationError("is none of those listed")


def _unique(_: object, wanted: object, value: object, __: object) -> Iterator[exceptions.ValidationError]:
    if wanted and isinstance(value, list) and len({encode(_number_as_is(item)) for item in value}) < len(value):
        yield exceptions.ValidationError("has the same entry twice")


@lru_cache(maxsize=16)
def _each_encoded(listed: bytes) -> frozenset[bytes]:
    return frozenset(encode(_number_as_is(item)) for item in json.loads(listed))


def _number_as_is(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with whole numbers written in one way: 1.0 is 1."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_number_as_is(item) for item in value]
        case dict():
            return {name: _number_as_is(item) for name, item in value.items()}
        case _:
            return value


def _is_time_stamp(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


_FORMATS = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))
_FORMATS.checks("date-time", raises=ValueError)(_is_time_stamp)
_OWN: Final[Mapping[str, Keyword]] = {
    "$ref": _reference,
    "enum": _enum,
    "pattern": _pattern,
    "required": _required,
    "uniqueItems": _unique,
}
_KEYWORDS = {name: _stepping(how) for name, how in {**Draft202012Validator.VALIDATORS, **_OWN}.items()}
_Validator = extend(Draft202012Validator, _KEYWORDS)  # type: ignore[no-untyped-call]
_FOLLOWED: ContextVar[int] = ContextVar("references_followed", default=0)
_STEPS: ContextVar[int] = ContextVar("steps_taken", default=0)
_WITHIN: ContextVar[int] = ContextVar("keywords_within_keywords", default=0)
