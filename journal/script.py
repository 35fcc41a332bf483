"""A transaction is a generator that yields what it wants from the store and is sent the answer.

A script holds no connection, awaits nothing and knows no dialect, so it is written once and every store
runs it. It must be deterministic but for its answers and must not touch anything outside itself: a driver
runs it in whatever thread it likes, and runs a fresh generator again when the store asks for a retry.
Raising ends the transaction and undoes all of it; returning commits it.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]
"""One row of a result. The columns are listed in the statement's file."""


@dataclass(frozen=True, slots=True)
class Query:
    """Run the statement of that name once. Answer: its rows, `list[Row]`."""

    name: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Run the statement of that name for each of these rows. Answer: `None`."""

    name: str
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class FindDead:
    """Ask who of these still lives. Answer: `Mapping[str, Liveness]` with an item for each."""

    presences: frozenset[str]


@dataclass(frozen=True, slots=True)
class Touch:
    """Name what this transaction changes; who watches one of these keys is woken by its commit.

    A write that names nothing wakes everybody. Answer: `None`.
    """

    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class Note:
    """What this transaction means, for whoever observes the commits of this process. Answer: `None`."""

    what: object


@dataclass(slots=True)
class Trail:
    """What a transaction leaves for the moment after its commit: the keys it touched, and its notes."""

    touched: set[str] = field(default_factory=set)
    notes: list[object] = field(default_factory=list)

    def clear(self) -> None:
        """It was undone."""
        self.touched.clear()
        self.notes.clear()


class Head(NamedTuple):
    """What a thread's row says after an append, in the order of its statement's parameters."""

    seq: int
    hash: bytes
    at_us: int
    epoch: int
    control: bytes
    reducer_version: int
    added_bytes: int
    queued: int
    active_turn: str | None
    runnable: int


class EntryRow(NamedTuple):
    """One entry as it is stored, without the position that the append gives it."""

    seq: int
    entry_id: str
    type: str
    version: int
    at_us: int
    turn_id: str | None
    run: str | None
    step: int | None
    epoch: int | None
    required: int
    prev_hash: bytes
    hash: bytes
    salt: bytes
    body: bytes | None
    blob: str | None


class TextRow(NamedTuple):
    """What can be found of an entry, as `transact/indexing.py` makes it."""

    seq: int
    size: int
    owners: str
    words: str


@dataclass(frozen=True, slots=True)
class Append:
    """Write entries and the thread's new row, if that row still stands at `expected_seq`.

    Positions are taken last and together with the rows, so that the session's counter is locked for one
    statement only. Answer: the position of the first entry, or `None` when the row stands elsewhere (then
    nothing was written and no position was used). PostgreSQL does it in one statement, hence a command.
    """

    session_id: int
    thread_id: int
    expected_seq: int
    head: Head
    entries: tuple[EntryRow, ...]
    texts: tuple[TextRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Liveness:
    """Whether a holder lives: `dead` is proven, `lapsed` missed its beats, or lost its lock only just now.

    `beat_age_s` is the age of the last beat, `None` for one that left no trace.
    """

    state: Literal["alive", "lapsed", "dead"]
    beat_age_s: float | None = None


Command: TypeAlias = Query | Batch | FindDead | Touch | Note | Append
Script: TypeAlias = Generator[Command, Any, T]


def rows(name: str, *params: object) -> Script[list[Row]]:
    """`yield from` this for the rows of a statement, typed."""
    found: list[Row] = yield Query(name, params)
    return found


def first(name: str, *params: object) -> Script[Row | None]:
    """`yield from` this for the first row of a statement, or `None`."""
    found: list[Row] = yield Query(name, params)
    return found[0] if found else None


def batch(name: str, many: tuple[tuple[Any, ...], ...]) -> Script[None]:
    """`yield from` this to run a statement for many rows; no rows, no statement."""
    if many:
        yield Batch(name, many)


def append(command: Append) -> Script[int | None]:
    """`yield from` this to append; the answer is the first position, `None` when the head moved."""
    position: int | None = yield command
    return position


def find_dead(presences: frozenset[str]) -> Script[Mapping[str, Liveness]]:
    """`yield from` this to learn who lives; asking about nobody costs nothing."""
    if not presences:
        return {}
    answer: Mapping[str, Liveness] = yield FindDead(presences)
    return answer
