"""How much is in a journal."""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.script import Script, first, rows


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts by name, and turns by phase. Sizes are bytes of content, without the store's own overhead."""

    journal_id: str
    counts: dict[str, int]
    turns: dict[str, int]


def read_statistics() -> Script[Statistics]:
    """Count everything."""
    journal = yield from first("journal_id")
    assert journal is not None
    counts = yield from rows("count_all")
    turns = yield from rows("count_turns")
    return Statistics(str(journal[0]), {name: int(n) for name, n in counts}, {phase: int(n) for phase, n in turns})
