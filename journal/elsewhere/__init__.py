"""Conversations from elsewhere, and ours for elsewhere: adapters without any store.

    found = read_conversation("openai", text)
    found.messages, found.notes

Rule: pure and strict. What cannot be read is an error that names its place; what was repaired or left out is a note.
The conversation that comes of it can be sent to any provider as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from turnwright.journal.canonical import digest, encode
from turnwright.journal.elsewhere import agentscope, anthropic, openai
from turnwright.journal.elsewhere.agentscope import written as to_agentscope
from turnwright.journal.elsewhere.agentscope.blocks import Dialect
from turnwright.journal.elsewhere.conversation import Conversation, Format
from turnwright.journal.elsewhere.document import document, parsed
from turnwright.journal.elsewhere.reading import Reading, zone_named
from turnwright.journal.entries.thread import Note
from turnwright.journal.errors import InvalidInput

__all__ = ["FORMATS", "Conversation", "Dialect", "Format", "Note", "parsed", "read_conversation", "to_agentscope"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)


def read_conversation(
    source: Format,
    given: str | bytes | Mapping[str, Any] | list[Any],
    *,
    time_zone: str | None = None,
    trust_permissions: bool = False,
) -> Conversation:
    """The conversation of a document.

    Args:
        source: whose form it has: `agentscope`, `openai` or `anthropic`.
        given: the document: JSON, or what it stands for.
        time_zone: that of times that name none, such as `Europe/Berlin` or `+08:00`.
        trust_permissions: take also what its permissions allow (rules, directories, a mode such as `bypass`).

    Raises:
        InvalidInput: it cannot be read; says where and why.
    """
    reading = Reading(zone=zone_named(time_zone))
    place = document(given, reading.note)
    match source:
        case "agentscope":
            found = agentscope.read(place, reading, trusted=trust_permissions)
        case "openai":
            found = openai.read(place, reading)
        case "anthropic":
            found = anthropic.read(place, reading)
        case _:
            raise InvalidInput(f"there is no format {source!r:.80}; formats are {', '.join(FORMATS)}")
    return replace(found, digest=digest(encode([source, time_zone, trust_permissions]), encode(place.value)).hex())
