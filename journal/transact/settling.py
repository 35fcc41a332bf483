"""What follows from the entries of an imported thread, written in pieces of bounded size, and compared with them.

Rule: a hidden thread is nobody else's, so what was read of it stays true from one piece to the next. Each looks for the
import's row first. What a try that was cut off had written is cleared before the first: that try may have been another
version's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar

from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.facts import Facts
from turnwright.journal.interactions import Interaction
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.stalls import has_work
from turnwright.journal.transact.bases import put_bases
from turnwright.journal.transact.deleting import ROWS_ERASED_MAX
from turnwright.journal.transact.importing import Begun, Declared, Kept, lost, told, twice
from turnwright.journal.transact.indexing import ENTRIES_INDEXED_MAX, index_piece
from turnwright.journal.transact.interactions import put_interactions
from turnwright.journal.transact.rebuilding import (
    THREAD_COLUMNS,
    head_of,
    put_turns,
    replace_checkpoints,
    replace_head,
    replace_spent,
)
from turnwright.journal.transact.rows import ThreadRow, session_of, write_session
from turnwright.journal.transact.schedules import replace_ticks
from turnwright.journal.transact.verifying import compare
from turnwright.journal.transact.walking import Walk
from turnwright.journal.turn_status import TurnStatus

T = TypeVar("T")
ROWS_WRITTEN_MAX = 500
Write: TypeAlias = Callable[[Row], Script[None]]
"""Writes a part of it, given the thread's row of `lock_in_session`."""
CLEARED = ("erase_turns", "erase_interactions", "erase_ticks", "erase_checkpoints", "erase_texts")


@dataclass(frozen=True, slots=True)
class Settling:
    """A thread of an import, what its entries add up to, and its head as it will be."""

    begun: Begun
    digest: str
    thread: Declared
    walk: Walk
    row: ThreadRow

    @property
    def turns(self) -> Iterable[TurnStatus]:
        """Its turns: as the entries say, or the file where those do not prove it any more."""
        return self.walk.turns.values() if self._kept is None else self._kept.turns

    @property
    def questions(self) -> Iterable[Interaction]:
        """Its questions, likewise."""
        return self.walk.interactions.values() if self._kept is None else self._kept.questions

    @property
    def _kept(self) -> Kept | None:
        return None if self.walk.whole else self.thread.kept


class _Piece(NamedTuple):
    """A part of what is to be written, and of about how many rows that is."""

    rows: int
    write: Write


def judge(walk: Walk, thread: Declared) -> str | None:
    """What is wrong with the entries, or with what the file says of them; None: nothing."""
    if not walk.findings and (walk.seq, walk.hash) != (thread.entries, thread.hash):
        return told(thread, None, f"it has {walk.seq} entries, or others than it should have: {thread.entries}")
    if walk.findings:
        return told(thread, walk.findings[0].seq, walk.findings[0].problem)
    if not walk.whole and thread.kept is None:
        return told(thread, None, "content of it was erased, and what it said then is not in the file")
    return None


def settling(begun: Begun, digest: str, thread: Declared, walk: Walk, thread_id: int) -> Settling:
    """What is to be written beside a thread whose entries are as they should be."""
    row, kept = head_of(walk, thread_id, begun.session_id), thread.kept
    if not walk.whole and kept is not None:
        queued = (status for status in kept.turns if status.phase == "queued")
        front = min(queued, key=lambda status: status.queue_order, default=None)
        runnable = not walk.key.is_session_log and has_work(kept.control, Facts(walk.at_us, front=front))
        row = replace(row, control=kept.control, runnable=runnable)
    return Settling(begun, digest, thread, walk, row)


def clear_some(of: Settling) -> Script[bool]:
    """Clear a piece of what stands there; whether nothing does any more."""
    yield from _locked(of)
    for statement in CLEARED:
        if len((yield from rows(statement, of.row.id, ROWS_ERASED_MAX))) >= ROWS_ERASED_MAX:
            return False
    yield from first("delete_bases", of.row.id)
    yield from first("move_searched", of.row.id, 0)
    return True


def transactions(of: Settling) -> Iterator[Callable[[], Script[None]]]:
    """All that is to be written, in order, as much of it together as one transaction may hold."""
    group, weight = list[Write](), 0
    for piece in _pieces(of):
        if group and weight + piece.rows > ROWS_WRITTEN_MAX:
            yield partial(_write_all, of, tuple(group))
            group, weight = [], 0
        group.append(piece.write)
        weight += piece.rows
    yield partial(_write_all, of, tuple(group))


def _pieces(of: Settling) -> Iterator[_Piece]:
    yield _Piece(1, partial(_write_head, of))
    for seqs in in_pieces(of.walk.bases, ROWS_WRITTEN_MAX):
        yield _Piece(len(seqs), partial(_write_bases, of, seqs))
    for turns in in_pieces(of.turns, ROWS_WRITTEN_MAX):
        yield _Piece(len(turns), partial(_write_turns, of, turns))
    for questions in in_pieces(of.questions, ROWS_WRITTEN_MAX):
        yield _Piece(len(questions), partial(_write_questions, of, questions))
    yield _Piece(1 + len(of.walk.ticks), partial(_write_rest, of))
    yield _Piece(min(of.walk.seq, ENTRIES_INDEXED_MAX), partial(_index, of))


def in_pieces(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in order, so many at a time."""
    left = iter(items)
    while piece := tuple(islice(left, size)):
        yield piece


def is_indexed(of: Settling) -> Script[bool]:
    """Whether all of its words can be found."""
    return (yield from first("find_searched", of.row.id)) == (of.walk.seq,)


def index_some(of: Settling) -> Script[None]:
    """Index a piece of its words."""
    yield from _index(of, (yield from _locked(of)))


def prove(of: Settling) -> Script[str | None]:
    """Compare all that was written with the entries, as `journal verify` does; what is wrong with it, None: nothing."""
    row = yield from first("raw_thread", of.row.id)
    session = yield from first("raw_session", of.begun.session_id)
    checkpoints = yield from rows("checkpoint_rows", of.row.id, STATE_REDUCER_VERSION)
    if row is None:
        raise lost()
    proof = yield from compare(replace(of.walk, findings=[]), of.row.id, row, session, checkpoints)
    return told(of.thread, proof.findings[0].seq, proof.findings[0].problem) if proof.findings else None


def _locked(of: Settling) -> Script[Row]:
    key = of.thread.key
    locked = yield from first("lock_in_session", key.canonical, key.session_key.canonical)
    if locked is None or (yield from first("find_import", of.begun.session_id)) != (of.digest,):
        raise lost()
    return locked


def _write_all(of: Settling, pieces: tuple[Write, ...]) -> Script[None]:
    locked = yield from _locked(of)
    for write in pieces:
        yield from write(locked)


def _write_head(of: Settling, locked: Row) -> Script[None]:
    key, kept = of.thread.key, of.thread.kept
    session = yield from session_of(key.session_key, locked[THREAD_COLUMNS:])
    yield from replace_head(of.row)
    if key.is_session_log:
        control = of.walk.session if kept is None or kept.session is None else kept.session
        yield from write_session(of.begun.session_id, control, of.walk.at_us)
    else:
        yield from replace_spent(of.row, session.control)


def _write_bases(of: Settling, seqs: tuple[int, ...], _: Row) -> Script[None]:
    yield from put_bases(of.walk, of.row.id, seqs)


def _write_turns(of: Settling, turns: tuple[TurnStatus, ...], _: Row) -> Script[None]:
    """Raises `CommandRejected` when another thread of the journal has one of them."""
    for turn in turns:
        elsewhere = yield from first("turn_elsewhere", turn.turn_id, of.row.id)
        if elsewhere is not None:
            raise twice(turn.turn_id, elsewhere[0], of.thread.key)
    yield from put_turns(of.row, turns)


def _write_questions(of: Settling, questions: tuple[Interaction, ...], _: Row) -> Script[None]:
    yield from put_interactions(of.row, questions)


def _write_rest(of: Settling, locked: Row) -> Script[None]:
    """Ticks are known whatever was erased beside them."""
    session = yield from session_of(of.thread.key.session_key, locked[THREAD_COLUMNS:])
    yield from replace_ticks(of.row, of.walk.ticks, session.control)
    if of.walk.whole:
        yield from replace_checkpoints(of.row, of.walk)


def _index(of: Settling, locked: Row) -> Script[None]:
    yield from index_piece(of.thread.key, locked[0], locked[1], of.walk.seq)
