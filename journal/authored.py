"""What people write in their programs and the journal keeps: an agent's terms, a budget.

Rule: what does not fit is said as everything else that does not, in our words. Only where somebody writes it: what is
read from a journal is judged by who reads it.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Frozen

GIVEN_CHARACTERS_MAX: Final = 60


class Authored(Frozen):
    """Base of them."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - whatever somebody wrote
        """Raises `InvalidInput`: something of it is not what it must be."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise InvalidInput(f"{type(self).__name__}: {_first_problem(error)}") from None

    # So pydantic makes those that it reads without this, and as fast.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined] # pydantic looks at it, and mypy does not know


def _first_problem(error: ValidationError) -> str:
    wrong = error.errors(include_url=False)[0]
    said, place = wrong["msg"].removeprefix("Value error, "), ".".join(map(str, wrong["loc"]))
    if wrong["type"] == "extra_forbidden":
        return f"it has no {place}"
    return f"{place}: {said}, got {wrong['input']!r:.{GIVEN_CHARACTERS_MAX}}" if place else said
