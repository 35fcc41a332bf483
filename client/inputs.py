"""What a caller may give: text, or a user's or system's message of text and media; budgets; words of a list.

Rule: what is of the wrong type is refused here, in one sentence that says what to write. Further in it would be an
error about something the caller never wrote, or be taken for something else: an `if_busy="rejct"` was an `enqueue`.
"""

from __future__ import annotations

from typing import TypeVar

from turnwright.journal.budgets import Budget
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Media, Message, Text, user

T = TypeVar("T")


def as_message(given: str | Message) -> Message:
    """The message to journal.

    Raises:
        InvalidInput: it is neither, is empty, or holds what only a model or a tool may say.
    """
    message = user(given) if isinstance(given, str) else given
    if not isinstance(message, Message):
        raise InvalidInput(f"an input is a text or a Message, not {_kind(given)}; give several parts as one Message")
    if message.role not in ("user", "system"):
        raise InvalidInput(f"an input is a message of the role user or system, not {message.role}")
    if not all(isinstance(block, Text | Media) for block in message.blocks):
        raise InvalidInput("an input holds text and media; calls, results and thinking come from models and tools")
    if not any(not isinstance(block, Text) or block.text.strip() for block in message.blocks):
        raise InvalidInput("the input is empty; say what is to be done")
    return message


def as_budget(given: Budget | None) -> Budget | None:
    """The budget itself.

    Raises:
        InvalidInput: it is no budget.
    """
    return given if given is None else of_kind("a budget", given, Budget, "such as Budget(steps=3)")


def one_of(name: str, value: T, known: tuple[object, ...]) -> T:
    """The value itself, if it is one of those.

    Raises:
        InvalidInput: it is another.
    """
    if value not in known:
        raise InvalidInput(f"{name} is {', '.join(map(repr, known[:-1]))} or {known[-1]!r}, not {value!r}")
    return value


def of_kind(what: str, value: object, kind: type[T], such_as: str) -> T:
    """The value itself, if it is of that type.

    Raises:
        InvalidInput: it is of another.
    """
    if not isinstance(value, kind):
        raise InvalidInput(f"{what} is a {kind.__name__}, {such_as}, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return type(value).__name__  # and not the value: a URL may hold a password
