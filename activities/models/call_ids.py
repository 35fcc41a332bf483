"""Ids of tool calls. Rule: no two calls of a conversation share one, since a result finds its call by it.

Some local servers number the calls of every response from 0, and some give none at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from turnwright.journal.messages import Message


def taken_ids(messages: Iterable[Message]) -> set[str]:
    """The ids that calls of the conversation have."""
    return {call.id for message in messages for call in message.calls}


def distinct_id(wanted: str, taken: set[str]) -> str:
    """The wanted id, or the first free one made from it; it is taken from then on."""
    base = wanted or "call"
    chosen, number = base, 2
    while chosen in taken:
        chosen, number = f"{base}-{number}", number + 1
    taken.add(chosen)
    return chosen
