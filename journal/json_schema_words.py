"""What is wrong with an answer, in words for the person who gave it.

Rule: the place first, as the person sees it; then what is wanted. An answer is not repeated in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jsonschema.exceptions import SchemaError, ValidationError

WORDS_CHARACTERS_MAX: Final = 300
_ALTERNATIVES_MAX = 5
_VALUES_MAX = 20
_TYPES: Final[Mapping[str, str]] = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "empty",
}
_Error = ValidationError | SchemaError


def in_words(error: _Error) -> list[str]:
    """One line for each thing that is wrong."""
    place = ".".join(str(part) for part in error.absolute_path)
    return [_cut(f"{place}: {text}" if place else text) for text in _said(error)]


def _said(error: _Error) -> list[str]:
    wanted: Any = error.validator_value
    match error.validator:
        case "required":
            given: Any = error.instance
            return [f"{name} is missing" for name in wanted if name not in given]
        case "type":
            return [f"must be {_types(wanted)}"]
        case "enum":
            more = ", …" if len(wanted) > _VALUES_MAX else ""
            return [f"must be one of: {', '.join(str(value) for value in wanted[:_VALUES_MAX])}{more}"]
        case "additionalProperties" if wanted is False:
            return [f"may not have {', '.join(_unknown(error))}"]
        case "anyOf" | "oneOf" if error.context:
            return [f"must be one of these: {_alternatives(error.context)}"]
        case str() as keyword if keyword in _BOUNDS:
            return [_BOUNDS[keyword](wanted)]
        case _:
            return [_cut(error.message)]


def _unknown(error: _Error) -> list[str]:
    given: Any = error.instance
    schema: Any = error.schema
    return [str(name) for name in given if name not in schema.get("properties", {})]


def _types(wanted: str | list[str]) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    return " or ".join(_TYPES.get(name, name) for name in names)


def _alternatives(errors: Iterable[_Error]) -> str:
    texts = list(dict.fromkeys(text for error in errors for text in _said(error)))
    more = ["…"] if len(texts) > _ALTERNATIVES_MAX else []
    return "; or ".join(texts[:_ALTERNATIVES_MAX] + more)


def _cut(text: str) -> str:
    return text if len(text) <= WORDS_CHARACTERS_MAX else f"{text[:WORDS_CHARACTERS_MAX]}…"


_BOUNDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "const": lambda value: f"must be {value}",
    "minLength": lambda least: f"must have at least {least} characters",
    "maxLength": lambda most: f"may have at most {most} characters",
    "minimum": lambda least: f"must be at least {least}",
    "maximum": lambda most: f"must be at most {most}",
    "exclusiveMinimum": lambda bound: f"must be more than {bound}",
    "exclusiveMaximum": lambda bound: f"must be less than {bound}",
    "multipleOf": lambda of: f"must be a multiple of {of}",
    "minItems": lambda least: f"must have at least {least} entries",
    "maxItems": lambda most: f"may have at most {most} entries",
    "uniqueItems": lambda _: "must not have the same entry twice",
    "format": lambda name: f"must be a {name}",
    "pattern": lambda pattern: f"must match {pattern}",
}
