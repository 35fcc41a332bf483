"""How much is in a journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from turnwright.journal.durations import SECOND_US
from turnwright.journal.script import Script, first, rows
from turnwright.journal.transact.rows import clock


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


def count_live(tenant: str) -> Script[dict[str, int]]:
    """How many turns of a tenant have not ended (`turns_PHASE`), and how many questions are open (`questions_KIND`)."""
    counts = yield from rows("count_live", tenant)
    return {name: int(n) for name, n in counts}


@dataclass(frozen=True, slots=True)
class LiveNumber:
    """How many of something there are now, and for how long (seconds) the one that has been there longest."""

    what: Literal["turns", "paused", "ready", "questions", "due"]
    kind: str
    count: int
    oldest_s: float


def live_numbers() -> Script[list[LiveNumber]]:
    """Over all tenants: turns that have not ended, are paused, could begin; open questions; threads to be looked at."""
    now_us = yield from clock()
    found = yield from rows("live_numbers", now_us)
    return [
        LiveNumber(what, kind, int(count), 0.0 if since_us is None else max(0, now_us - int(since_us)) / SECOND_US)
        for what, kind, count, since_us in found
    ]


def count_tenant(tenant: str, new_us: int) -> Script[dict[str, int]]:
    """How much a tenant has in the journal; `turns_new` are those of the last `new_us`."""
    now_us = yield from clock()
    counts = yield from rows("count_tenant", tenant, now_us - new_us)
    return {name: int(n) for name, n in counts}
