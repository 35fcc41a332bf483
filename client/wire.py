"""Values as JSON between a gateway and its clients, and back.

Rule: what a client gets through a gateway equals what it gets from the stores, so the JSON of a value is that of its
own fields and nothing is written twice.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a type, or one with arguments
    return TypeAdapter(kind)


def dumped(kind: Any, value: object) -> bytes:  # noqa: ANN401 - as above
    """A value of that type as JSON."""
    return _adapter(kind).dump_json(value)


def plain(kind: Any, value: object) -> Any:  # noqa: ANN401 - as above
    """A value of that type as what JSON is made of."""
    return _adapter(kind).dump_python(value, mode="json")


def loaded(kind: type[T], data: bytes) -> T:
    """A value of that type from its JSON. Raises `ValueError` if it is none."""
    value: T = _adapter(cast("Any", kind)).validate_json(data)
    return value
