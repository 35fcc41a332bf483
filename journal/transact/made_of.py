"""What was made of a thread, erased with what it was made of: titles and summaries in the logs of sessions.

Rule: a title or summary may hold any word that was said up to the entry it was made through, so it goes in the
transaction in which such an entry does, also in sessions that hold forks of the thread. One that is still being made
finds the erasure (`was_erased`) and is not kept. Where they are many, most are erased before, some in a transaction:
that one of them is gone and its entry is not yet does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import DescribeSession, EraseEntry, LoggedCommand
from turnwright.journal.describing import is_made_of
from turnwright.journal.edge import storable
from turnwright.journal.entries import Draft, Entry, EntryErased
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script, first, rows
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.content import erase_content, find_content, find_readable, forget, texts_of
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.rows import SessionRow, ThreadRow, clock, lock_session, write_session

AT_ONCE_MAX = 100


class MuchMadeOf(Exception):
    """Leaves the transaction of an erasure: so much was made of what is `held` that a `session` loses it before."""

    def __init__(self, session: SessionKey, held: Mapping[ThreadKey, int]) -> None:
        super().__init__(session.canonical)
        self.session = session
        self.held = held


@dataclass(frozen=True, slots=True)
class LockedSession:
    """A session and its log, both locked for one of its own commands."""

    log: ThreadRow | None
    session: SessionRow


def lock_sessions(keys: Iterable[ThreadKey]) -> Script[dict[SessionKey, LockedSession]]:
    """The sessions of these threads, which are locked already: all logs first, then all sessions, each in one order."""
    wanted = sorted({key.session_key for key in keys}, key=lambda key: key.canonical)
    logs: dict[SessionKey, ThreadRow | None] = {}
    for key in wanted:
        logs[key] = yield from lock_thread(key.log)
    locked: dict[SessionKey, LockedSession] = {}
    for key in wanted:
        session = yield from lock_session(key)
        if session is not None:
            locked[key] = LockedSession(logs[key], session)
    return locked


def lock_made_of(key: SessionKey, command: LoggedCommand) -> Script[ThreadRow | None]:
    """The thread that a description was made of, locked before the session's log is, as whoever erases locks them.

    None: the command is no description, or that thread is not there, so that nothing can be erased from it.
    """
    if not isinstance(command, DescribeSession):
        return None
    made_of = command.made_of
    return (yield from lock_thread(ThreadKey(key.tenant, key.user, made_of.agent, key.session, made_of.thread)))


def was_erased(thread: ThreadRow, log: ThreadRow, command: LoggedCommand) -> Script[bool]:
    """Whether content was erased since the description was begun, of the thread or of the session's log."""
    if not isinstance(command, DescribeSession):
        return False
    for thread_id, seq in ((thread.id, command.made_of.through_seq), (log.id, command.log_seq)):
        if (yield from first("find_erasure", thread_id, seq)) is not None:
            return True
    return False


def erase_made_of(
    locked: LockedSession, held: Mapping[ThreadKey, int], command: EraseEntry, after_seq: int
) -> Script[None]:
    """Erase the titles and summaries that may hold words of what was erased, `held` by number in each thread.

    Those up to `after_seq` of the session's log were looked at before.

    Raises:
        MuchMadeOf: there are too many for one transaction.
    """
    log = locked.log
    if log is None or locked.session.deleted:
        return
    found = yield from rows("descriptions", log.id, after_seq, AT_ONCE_MAX + 1)
    if len(found) > AT_ONCE_MAX:
        raise MuchMadeOf(log.key.session_key, held)
    yield from _erase(log, locked.session, [row[0] for row in found], held, command)


def erase_some_made_of(much: MuchMadeOf, command: EraseEntry, after_seq: int) -> Script[int | None]:
    """As `erase_made_of`, some behind a place of the session's log; the place they reach to, None: that is all."""
    log = yield from lock_thread(much.session.log)
    session = yield from lock_session(much.session)
    if log is None or session is None or session.deleted:
        return None
    found = [row[0] for row in (yield from rows("descriptions", log.id, after_seq, AT_ONCE_MAX))]
    yield from _erase(log, session, found, much.held, storable(command))
    return found[-1] if len(found) == AT_ONCE_MAX else None


def _erase(
    log: ThreadRow, session: SessionRow, seqs: Iterable[int], held: Mapping[ThreadKey, int], command: EraseEntry
) -> Script[None]:
    """Erase those of these descriptions that were made of what is `held`, and say so."""
    here = {key: number for key, number in held.items() if key.session_key == log.key.session_key}
    found: list[Entry] = []
    for seq in seqs:
        entry = yield from find_readable(log, seq)
        if entry is not None and any(is_made_of(entry.payload, key, number) for key, number in here.items()):
            found.append(entry)
    for entry in found:
        content = yield from find_content(log, entry.seq)
        assert content is not None, "it was just read"
        assert content.stored is not None, "it was just read"
        yield from erase_content(log, entry.seq, content, content.stored)
    if found:
        yield from _say_so(log, session, found, command)


def _say_so(log: ThreadRow, session: SessionRow, erased: list[Entry], command: EraseEntry) -> Script[None]:
    drafts = [
        Draft(
            f"made:{entry.seq}/erased",
            EntryErased(erased_seq=entry.seq, principal=command.principal, reason=command.reason),
        )
        for entry in erased
    ]
    now_us = yield from clock()
    control = fold_drafts(log.control, drafts, now_us)
    entries = yield from append_drafts(log, drafts, control, now_us, runnable=log.runnable)
    after = forget(session.control, frozenset[str]().union(*(texts_of(entry.payload) for entry in erased)))
    for entry in entries:
        after = evolve_session(after, entry)
    yield from write_session(session.id, after, entries[-1].at_us)
