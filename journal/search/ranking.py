"""How well a text fits what was asked: how often each thing occurs in it, for its length.

Rule: it depends on the text and the query alone. A measure that weighs a word by how rare it is in the whole journal
would move hits while one pages through them, and would tell one tenant about the texts of others.
"""

from __future__ import annotations

from collections.abc import Sequence

SCALE = 1_000_000
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
USUAL_WORDS = 100


def rank_of(occurrences: Sequence[int], words: int) -> int:
    """Between 0 and a million; a whole number, so that it can be a place in a list."""
    damped = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * words / USUAL_WORDS)
    return round(SCALE * sum(n / (n + damped) for n in occurrences) / max(1, len(occurrences)))
