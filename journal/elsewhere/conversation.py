"""What was read of a document: a conversation that a thread can begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.pairs import Sourced, paired
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.entries.thread import Note
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Message

Format: TypeAlias = Literal["agentscope", "openai", "anthropic"]
MESSAGES_MAX: Final = 10_000
FILES_BYTES_MAX: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages with calls and results in pairs, the parts of the state by name, and what is to be told of it.

    `blobs` are the bytes of its files, by their SHA-256; `digest` is that of the document and of how it was read.
    """

    source: Format
    messages: tuple[Message, ...]
    state: dict[str, Any]
    notes: tuple[Note, ...]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    digest: str = ""


def listed(place: Place) -> list[Place]:
    """The messages of a list. Raises `InvalidInput` if there are too many, or it is none."""
    items = place.items()
    if len(items) > MESSAGES_MAX:
        raise place.wrong(f"{len(items):,} messages, {MESSAGES_MAX:,} are the most")
    return items


def conversation(source: Format, said: list[Sourced], state: dict[str, Any], reading: Reading) -> Conversation:
    """The conversation of paired messages; those without anything in them are left out.

    Raises:
        InvalidInput: its files are too large, or it has too many messages with those that pair its calls.
    """
    if len(said) > MESSAGES_MAX:
        raise InvalidInput(f"the conversation has {len(said):,} messages in pairs, {MESSAGES_MAX:,} are the most")
    size = sum(map(len, reading.blobs.values()))
    if size > FILES_BYTES_MAX:
        raise InvalidInput(f"the files of the conversation have {size:,} bytes, {FILES_BYTES_MAX:,} are the most")
    return Conversation(
        source, tuple(one.message for one in said), state, reading.all_notes(), dict(reading.blobs)
    )  # fmt: skip


def simple(source: Format, said: list[Sourced], reading: Reading) -> Conversation:
    """The conversation of a list of messages that came without a state.

    Raises:
        InvalidInput: as `conversation`; or none of them holds anything.
    """
    kept = [one for one in said if one.message.blocks]
    if not kept:
        raise InvalidInput("messages: there is none that holds anything, so there is no conversation to bring")
    return conversation(source, paired(kept, reading), {}, reading)
