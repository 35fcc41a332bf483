"""What a caller may put into a conversation: text, or a user's or system's message of text and media."""

from __future__ import annotations

from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Media, Message, Text, user


def as_message(given: str | Message) -> Message:
    """The message to journal.

    Raises:
        InvalidInput: it is empty, or holds what only a model or a tool may say.
    """
    message = user(given) if isinstance(given, str) else given
    if message.role not in ("user", "system"):
        raise InvalidInput(f"an input is a message of the role user or system, not {message.role}")
    if not all(isinstance(block, Text | Media) for block in message.blocks):
        raise InvalidInput("an input holds text and media; calls, results and thinking come from models and tools")
    if not any(not isinstance(block, Text) or block.text.strip() for block in message.blocks):
        raise InvalidInput("the input is empty; say what is to be done")
    return message
