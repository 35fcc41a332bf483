"""Which Temporal serves a journal, and the journal's identity on it.

Rule: all workers of a journal work through one Temporal: through two, each would start the other's turns again, and
only the epochs would keep them apart. The first worker to say which one it is decides for those that come while it
lives; a journal whose workers are all gone may be served through another, as after Temporal's own loss. Who says so
also says by which id it knows the journal, for a worker that was frozen may have missed that it got a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from turnwright.journal.errors import JournalError
from turnwright.journal.script import Row, Script, Touch, batch, find_dead, first, rows
from turnwright.journal.transact.rows import clock

TOPIC = "serving"
EARLIER = "incarnation:"
ENDED = "ended:"


class JournalRenamed(JournalError):
    """The journal has another id than the one it is known by here, so nothing may be begun under that any more."""

    def __init__(self, earlier: str, now: str) -> None:
        super().__init__(f"the journal {earlier} was given a new id and is {now} now")
        self.earlier = earlier
        self.now = now


@dataclass(frozen=True, slots=True)
class Rival:
    """A living worker that serves the journal, and the Temporal it does that through."""

    presence: str
    engine: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a worker still stands there as serving, and a rival."""

    serves: bool
    rival: Rival | None


_Said: TypeAlias = tuple[tuple[Rival, Literal["alive", "lapsed", "dead"]], ...]


def begin_serving(presence: str, engine: str, journal_id: str) -> Script[Rival | None]:
    """Serve through `engine` from now on; or a rival, and then nothing is changed.

    Who does not live now has lost its place. If it comes back it finds out, and asks again.

    Raises:
        JournalRenamed: it is not the journal of that id any more.
    """
    _check_id((yield from first("lock_journal")), journal_id)
    said = yield from _said()
    rival = _rival_in(said, presence, engine)
    if rival is None:
        gone = tuple((one.presence,) for one, state in said if state != "alive" and one.presence != presence)
        yield from batch("delete_serving", gone)
        yield from first("upsert_serving", presence, engine)
        yield Touch(frozenset({TOPIC}))
    return rival


def see_standing(presence: str, engine: str, journal_id: str) -> Script[Standing]:
    """How a worker that began to serve stands by now.

    Raises:
        JournalRenamed: it is not the journal of that id any more.
    """
    _check_id((yield from first("journal_id")), journal_id)
    said = yield from _said()
    serves = any(one == Rival(presence, engine) for one, _ in said)
    return Standing(serves, _rival_in(said, presence, engine))


def find_rival(presence: str, engine: str) -> Script[Rival | None]:
    """A living worker, other than this one, that serves the journal through another Temporal."""
    return _rival_in((yield from _said()), presence, engine)


def end_serving(presence: str) -> Script[None]:
    """Serve through nothing any more."""
    yield from first("delete_serving", presence)
    yield Touch(frozenset({TOPIC}))


def serving() -> Script[tuple[Rival, ...]]:
    """Every living worker that serves the journal. One that is frozen counts as gone, or it would bar the others."""
    said = yield from _said()
    return tuple(one for one, state in said if state == "alive")


def earlier_ids() -> Script[frozenset[str]]:
    """The ids the journal had before it was given new ones."""
    found = yield from rows("incarnations")
    return frozenset(str(journal_id) for (journal_id,) in found)


def unended_ids(engine: str) -> Script[tuple[str, ...]]:
    """The earlier ids whose workflows nobody has ended in this Temporal yet.

    Once is enough, and more would do harm: the original of a copied journal still works under the id they shared.
    """
    earlier = yield from earlier_ids()
    noted = yield from rows("ended_incarnations")
    ended = {str(journal_id).split(" ")[0] for journal_id, where in noted if where == engine}
    return tuple(sorted(earlier - ended))


def note_ended(journal_id: str, engine: str) -> Script[None]:
    """What this Temporal had under an earlier id was ended."""
    yield from first("upsert_ended_incarnation", _ended(journal_id, engine), engine)


def forget_ended(journal_id: str, engine: str) -> Script[None]:
    """Somebody worked on under an earlier id: what this Temporal has of it is to be ended once more."""
    yield from first("delete_ended_incarnation", _ended(journal_id, engine), ENDED + journal_id, engine)


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


def _said() -> Script[_Said]:
    """Everybody who said which Temporal it serves the journal through, and whether it lives."""
    found = yield from rows("serving_rows")
    known = yield from find_dead(frozenset(presence for presence, _ in found))
    return tuple((Rival(presence, engine), known[presence].state) for presence, engine in found)


def _rival_in(said: _Said, presence: str, engine: str) -> Rival | None:
    others = (one for one, state in said if state == "alive" and one.presence != presence)
    return next((other for other in others if other.engine != engine), None)


def _check_id(row: Row | None, journal_id: str) -> None:
    assert row is not None
    if row[0] != journal_id:
        raise JournalRenamed(journal_id, str(row[0]))


def _ended(journal_id: str, engine: str) -> str:
    """The name of the note. One of an older version has only the id, so that it is forgotten for another Temporal."""
    return f"{ENDED}{journal_id} {engine}"
