"""Python values as JSON the journal can hold. Rule: what is not JSON becomes it, and is repaired visibly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import to_jsonable_python

from turnwright.journal.canonical import repair


def jsonable(value: Any, fallback: Callable[[Any], Any] | None = None) -> Any:  # noqa: ANN401 - any value
    """The value as JSON; `fallback` stands in for what has no JSON form.

    Raises:
        ValueError: it has none (PydanticSerializationError), refers to itself, or is nested too deep.
    """
    try:
        return repair(to_jsonable_python(value, bytes_mode="base64", fallback=fallback))
    except UnicodeEncodeError:
        # Half a character in a key, which is refused where half a character in a value is not.
        return repair(to_jsonable_python(repair(value), bytes_mode="base64", fallback=fallback))
