"""How the input of turns begins, for lists: one read for a page of them.

Rule: a list is a list. What cannot be read, was erased or is large enough for a blob has no beginning here, and whoever
wants it looks at the turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from turnwright.journal.codec import decode
from turnwright.journal.entries import TurnQueued
from turnwright.journal.errors import UNREADABLE
from turnwright.journal.script import Row, Script, rows

INPUT_CHARACTERS_MAX = 200


def turn_inputs(places: Iterable[tuple[int, int]]) -> Script[dict[tuple[int, int], str]]:
    """The beginning of each input's text in one line, by thread id and number of the `turn.queued` entry."""
    asked = list(places)
    found = (yield from rows("turn_inputs", json.dumps(asked))) if asked else ()
    return {(row[0], row[1]): _beginning(row) for row in found}


def _beginning(row: Row) -> str:
    thread_id, seq, kind, version, body = row
    try:
        payload = decode(kind, version, body, required=False, thread=str(thread_id), seq=seq)
    except UNREADABLE:
        return ""
    text = " ".join(payload.input.text.split()) if isinstance(payload, TurnQueued) else ""
    return text if len(text) <= INPUT_CHARACTERS_MAX else f"{text[: INPUT_CHARACTERS_MAX - 1]}…"
