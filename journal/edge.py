"""The edge: what a command brings becomes what the journal can hold, before anything is decided.

Rule: what is folded at once and what is read back later are the same values. A text with a NUL that was
folded as it came, and stored repaired, gave a state that no rebuild could reproduce.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from turnwright.journal.canonical import repair, repair_text
from turnwright.journal.commands import Ask, ClientCommand, RunCommand, Spawn

C = TypeVar("C", bound=ClientCommand | RunCommand)


def storable(command: C) -> C:
    """The command with every text and JSON value in it repaired.

    Raises:
        InvalidInput: a value in it is no JSON.
    """
    changes = {f.name: new for f in fields(command) if (new := _held(old := getattr(command, f.name))) is not old}
    return replace(command, **changes) if changes else command


def _held(value: Any) -> Any:  # noqa: ANN401 - any field of a command
    match value:
        case str():
            return repair_text(value)
        case BaseModel():
            changes = {name: new for name, old in value if (new := _held(old)) is not old}
            return value.model_copy(update=changes) if changes else value
        case Ask(asked=asked):
            return value if (new := repair(asked)) is asked else replace(value, asked=new)
        case Spawn(task=task):
            return value if (new := repair_text(task)) is task else replace(value, task=new)
        case tuple():
            items = tuple(_held(item) for item in value)
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        case dict() if value and all(isinstance(item, _PLAIN) for item in value.values()):
            return repair(value)
        case _:
            return value


_PLAIN = (str, int, float, dict, list, tuple, type(None))
