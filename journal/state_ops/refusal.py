"""Why an operation on the state may not be.

Rule: the message tells its reader, a language model or a person, what to do instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.errors import TurnwrightError
from turnwright.journal.state_ops.limits import ID_CHARACTERS_MAX


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that was refused; nothing was changed."""

    message: str


class Refused(TurnwrightError):
    """Raised on the way to a `Refusal`; never leaves this package."""


def quoted(text: str) -> str:
    """A name that was given, cut where it is longer than any name there is."""
    return repr(text) if len(text) <= ID_CHARACTERS_MAX else f"{text[:ID_CHARACTERS_MAX]!r}…"


def bounded(what: str, text: str, characters_max: int, *, empty: bool = False) -> None:
    """Check the length of a text.

    Raises:
        Refused: it is blank, and may not be, or too long.
    """
    if not empty and not text.strip():
        raise Refused(f"{what} is empty; give it a text.")
    if len(text) > characters_max:
        raise Refused(f"{what} has {len(text):,} characters; at most {characters_max:,} are kept. Shorten it.")
