"""Which Temporal serves a journal, and the journal's identity on it.

Rule: all workers of a journal work through one Temporal: through two, each would start the other's turns again, and
only the epochs would keep them apart. The first worker to say which one it is decides for those that come while it
lives; a journal whose workers are all gone may be served through another, as after Temporal's own loss.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.script import Script, Touch, batch, find_dead, first, rows
from turnwright.journal.transact.rows import clock

TOPIC = "serving"
EARLIER = "incarnation:"
ENDED = "ended:"


@dataclass(frozen=True, slots=True)
class Rival:
    """A living worker that serves the journal, and the Temporal it does that through."""

    presence: str
    engine: str


def begin_serving(presence: str, engine: str) -> Script[Rival | None]:
    """Serve through `engine` from now on; or a rival, and then nothing is changed."""
    yield from first("lock_journal")
    rival = yield from find_rival(presence, engine)
    if rival is None:
        yield from first("upsert_serving", presence, engine)
        yield Touch(frozenset({TOPIC}))
    return rival


def find_rival(presence: str, engine: str) -> Script[Rival | None]:
    """A living worker, other than this one, that serves the journal through another Temporal."""
    alive = yield from serving()
    return next((other for other in alive if other.presence != presence and other.engine != engine), None)


def end_serving(presence: str) -> Script[None]:
    """Serve through nothing any more."""
    yield from first("delete_serving", presence)
    yield Touch(frozenset({TOPIC}))


def serving() -> Script[tuple[Rival, ...]]:
    """Every living worker that serves the journal. One that is frozen counts as gone, or it would bar the others."""
    found = yield from rows("serving_rows")
    known = yield from find_dead(frozenset(presence for presence, _ in found))
    return tuple(Rival(presence, engine) for presence, engine in found if known[presence].state == "alive")


def earlier_ids() -> Script[frozenset[str]]:
    """The ids the journal had before it was given new ones."""
    found = yield from rows("incarnations")
    return frozenset(str(journal_id) for (journal_id,) in found)


def unended_ids(engine: str) -> Script[tuple[str, ...]]:
    """The earlier ids whose workflows nobody has ended in this Temporal yet.

    Once is enough, and more would do harm: the original of a copied journal still works under the id they shared.
    """
    earlier = yield from earlier_ids()
    ended = yield from rows("ended_incarnations")
    return tuple(sorted(earlier.difference(str(one) for one, where in ended if where == engine)))


def note_ended(journal_id: str, engine: str) -> Script[None]:
    """What this Temporal had under an earlier id was ended."""
    yield from first("upsert_ended_incarnation", ENDED + journal_id, engine)


@dataclass(frozen=True, slots=True)
class Incarnation:
    """What became of the journal's id. `rivals`: who served it, so that it was left as it was."""

    earlier: str
    now: str
    rivals: tuple[Rival, ...] = ()


def renew(journal_id: str) -> Script[Incarnation]:
    """Give the journal a new id, unless a worker serves it: nothing begun under the old one can meet it then."""
    locked = yield from first("lock_journal")
    assert locked is not None
    earlier = str(locked[0])
    rivals = yield from serving()
    if rivals:
        return Incarnation(earlier, earlier, rivals)
    now_us = yield from clock()
    left = yield from rows("serving_rows")
    yield from batch("delete_serving", tuple((presence,) for presence, _ in left))
    yield from first("insert_incarnation", EARLIER + earlier, str(now_us))
    yield from first("rename_journal", journal_id)
    yield from first("forget_hints")
    yield Touch(frozenset({TOPIC}))
    return Incarnation(earlier, journal_id)
