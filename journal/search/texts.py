"""Which text of an entry can be found: what people and agents said, and what a session is called.

Rule: not what tools were given or gave back, and not what a model thought; none of it was said to anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from turnwright.journal.entries import (
    InputInjected,
    InputSteered,
    MessageImported,
    ModelInterrupted,
    ModelResponded,
    Payload,
    SessionCreated,
    SessionTitled,
    TurnQueued,
)
from turnwright.journal.messages import Block, Text

Role = Literal["user", "assistant", "tool", "system", "title"]
BETWEEN = "\n"


@dataclass(frozen=True, slots=True)
class Said:
    """A text and who said it; `title`: what a session is called."""

    role: Role
    text: str


def said_in(payload: Payload) -> Said | None:
    """The text of an entry; None when there is none in it that anybody said."""
    match payload:
        case TurnQueued(input=message) | InputSteered(message=message) | InputInjected(message=message):
            said = Said(message.role, _text(message.blocks))
        case MessageImported(message=message) if message.role != "tool":
            said = Said(message.role, _text(message.blocks))
        case ModelResponded(blocks=blocks) | ModelInterrupted(reason="cancelled", partial=blocks):
            said = Said("assistant", _text(blocks))
        case SessionCreated(title=str(title)) | SessionTitled(title=str(title)):
            said = Said("title", title)
        case _:
            return None
    return said if said.text else None


def _text(blocks: Iterable[Block]) -> str:
    return BETWEEN.join(block.text for block in blocks if isinstance(block, Text))
