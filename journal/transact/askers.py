"""Which turns of a session ask something, themselves or through one below: those of a large family to look at first.

Rule: from whoever asks upwards, a level at a time, so it costs what is asked and not how large the family is.
"""

from __future__ import annotations

from turnwright.journal.script import Script, rows
from turnwright.journal.transact.turns import parents_of

ASKERS_MAX = 1000


def asking_turns(session_id: int) -> Script[frozenset[str]]:
    """The turns with an open question, those that have waited longest up to `ASKERS_MAX`, and all turns above them."""
    level = {row[0] for row in (yield from rows("asking_turns", session_id, ASKERS_MAX))}
    found: set[str] = set()
    while level:
        found |= level
        level = (yield from parents_of(level)) - found
    return frozenset(found)
