"""What was called, for who is asked what became of it: that is looked for in the system that was called.

Rule: it is read from the entries, so what is erased there is unknown here; arguments are only told if they are those
the question is about, by its digest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from turnwright.journal import entry_ids
from turnwright.journal.canonical import digest_of
from turnwright.journal.entries import Entry, InteractionRequested, ModelResponded, ToolDecided, ToolStarted
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import ToolCall
from turnwright.journal.script import Script, rows
from turnwright.journal.transact.reading import entry_of
from turnwright.journal.transact.turns import find_turn


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call that was started: when (microseconds), under which idempotency key, with which arguments."""

    at_us: int
    key: str | None = None
    arguments: dict[str, Any] | None = None


def read_started(
    key: ThreadKey, thread_id: int, turn_id: str, asked_seq: int, asked: InteractionRequested | None
) -> Script[StartedCall | None]:
    """The attempt whose outcome is in question; None where the question is about something else, or erased."""
    if asked is None or asked.kind != "unknown_outcome" or asked.call_id is None:
        return None
    turn = yield from find_turn(turn_id, thread_id)
    if turn is None:
        return None
    found = yield from rows("step_entries", thread_id, turn_id, turn.queued_seq, asked_seq)
    return _started([entry_of(row, key.canonical) for row in found], asked, asked.call_id)


def _started(entries: list[Entry], asked: InteractionRequested, call_id: str) -> StartedCall | None:
    ordinal = asked.asked.get("ordinal", 0)
    for entry in entries:
        if entry.entry_id == entry_ids.tool(entry.turn_id or "", entry.step or 0, call_id, ordinal, "started"):
            payload = entry.payload
            key = payload.key if isinstance(payload, ToolStarted) else None
            return StartedCall(entry.at_us, key, _arguments(entries, asked, call_id))
    return None


def _arguments(entries: Iterable[Entry], asked: InteractionRequested, call_id: str) -> dict[str, Any] | None:
    """What the model asked for, or what whoever approved the call changed it to."""
    given = (arguments for entry in entries for arguments in _given(entry, call_id))
    return next((arguments for arguments in given if digest_of(arguments) == asked.arguments_digest), None)


def _given(entry: Entry, call_id: str) -> list[dict[str, Any]]:
    match entry.payload:
        case ToolDecided(call_id=about, arguments=dict(changed)) if about == call_id:
            return [changed]
        case ModelResponded(blocks=blocks):
            return [block.arguments for block in blocks if isinstance(block, ToolCall) and block.id == call_id]
    return []
