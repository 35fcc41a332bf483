"""What a tool says for its permissions: which arguments are paths, which is a command line, and its own check.

Rule: a rule about paths that never sees a path protects nothing, so what is named wrongly is refused where the tool is
defined.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnwright.activities.check import CheckHook
from turnwright.activities.signature import Signature
from turnwright.journal.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Guarded:
    """The options of a tool that permissions are about."""

    paths: tuple[str, ...] = ()
    command: str | None = None
    check: CheckHook | None = None


def guarded(tool: str, signature: Signature, paths: Sequence[str], command: str | None, check: Any) -> Guarded:  # noqa: ANN401 - to be checked
    """The options, if the tool has such arguments.

    Raises:
        InvalidInput: it has not, or the check is none; says what to write.
    """
    if isinstance(paths, str) or not all(isinstance(name, str) for name in paths):
        raise InvalidInput(f"tool {tool}: paths= is a list of argument names, such as ['path'], got {paths!r}")
    for name in paths:
        if not _each(_schema(tool, signature, name, "paths"), _is_text_or_texts):
            raise InvalidInput(f"tool {tool}: paths= names {name!r}, which must be str, Path or a list of them")
    if command is not None and not _each(_schema(tool, signature, command, "command"), _is_text):
        raise InvalidInput(f"tool {tool}: command= names {command!r}, which must be str")
    if command in paths:
        raise InvalidInput(f"tool {tool}: {command!r} is a path or a command line; name it once")
    if check is not None:
        _check_hook(tool, check)
    return Guarded(tuple(dict.fromkeys(paths)), command, check)


def _schema(tool: str, signature: Signature, name: str, option: str) -> Mapping[str, Any]:
    if name not in signature.names:
        known = ", ".join(signature.names) or "none"
        raise InvalidInput(f"tool {tool}: {option}= names {name!r}, which is no argument of it (it has {known})")
    schema: Mapping[str, Any] = signature.parameters["properties"][name]
    return schema


def _each(schema: Mapping[str, Any], fits: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Whether each kind of value that the schema allows fits, except null."""
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    return bool(kinds) and all(fits(kind) for kind in kinds)


def _is_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string"


def _is_text_or_texts(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return _is_text(schema) or (schema.get("type") == "array" and isinstance(items, Mapping) and _is_text(items))


def _check_hook(tool: str, check: Any) -> None:  # noqa: ANN401 - to be checked
    if not inspect.isroutine(check):
        raise InvalidInput(f"tool {tool}: check must be a function of (ctx, arguments), got {check!r}")
    try:
        inspect.signature(check).bind(None, {})
    except TypeError as error:
        raise InvalidInput(f"tool {tool}: check is called as check(ctx, arguments): {error}") from None
