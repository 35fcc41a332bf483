"""An exported session taken into a journal.

    imported = await import_session(journal, path, principal="alice")

Rule: the whole file is read and compared with its digest before anything is written; what is written is hidden until
it is proven. It may be ended at any point and called again. One process imports at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import EllipsisType
from typing import TypeVar

from turnwright.journal import session_file
from turnwright.journal.driver import Driver
from turnwright.journal.errors import CommandRejected, InvalidInput, StoreCorrupt, StoreUnavailable, TurnwrightError
from turnwright.journal.ids import SessionKey
from turnwright.journal.script import rows
from turnwright.journal.session_damage import damaged_line
from turnwright.journal.session_file import Changed, Line, Seal
from turnwright.journal.session_rows import Reading, declared_of, key_of
from turnwright.journal.store import Journal
from turnwright.journal.store_settling import settle
from turnwright.journal.transact import importing
from turnwright.journal.transact.importing import Begun, Declared, Origin, Piece
from turnwright.journal.transact.settling import in_pieces

LEAD, LEASE_S = "import", 60.0
PAGE_THREADS_MAX = 500
PIECE_BYTES_MAX = 4 * 1024 * 1024
PIECE_LINES_MAX = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import. `unfinished`: turns that have not ended; `paused`: because of them.

    `duplicate`: all of it was there already, and nothing was changed.
    """

    key: SessionKey
    digest: str
    counts: dict[str, int] = field(default_factory=dict)
    unfinished: int = 0
    paused: bool = False
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """Under which key a session is imported: whose (left out: whose it was), and by which id (None: the one it had)."""

    tenant: str
    user: str | EllipsisType | None = ...
    session: str | None = None

    def of(self, exported: SessionKey) -> SessionKey:
        """The key that the session gets."""
        user = exported.user if isinstance(self.user, EllipsisType) else self.user
        return SessionKey(self.tenant, user, self.session or exported.session).checked()


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was read once: what it says of itself."""

    path: Path
    seal: Seal
    header: Line
    threads: tuple[Declared, ...]


async def import_session(
    journal: Journal, path: Path, target: Target, *, principal: str, reason: str | None = None, go_on: bool = False
) -> Imported:
    """Take in a session. With `go_on`, turns that have not ended go on at once; else the session is paused then.

    Raises:
        InvalidInput: the file is not whole, or is not what was written; says what is missing or wrong.
        CommandRejected: `session_exists` (with other content), `session_deleted`, `turn_exists`, `import_busy`.
        StoreUnavailable: call it again; it goes on where it was.
    """
    lead = await journal.driver.try_lead(LEAD, lease_s=LEASE_S)
    if lead is None:
        raise CommandRejected("import_busy", "another import into this journal is under way; wait until it has ended")
    try:
        file = await asyncio.to_thread(_read_whole, path, target)
        importer = _Importer(journal, file, target.of(key_of(file.header)))
        return await importer.run(principal, reason, go_on=go_on)
    finally:
        await lead.release()


def _read_whole(path: Path, target: Target) -> _File:
    """As `_read`; of a file that was changed on its way it is said where, as far as that can be seen."""
    try:
        return _read(path, target)
    except Changed as error:
        line = damaged_line(path)
        raise error if line is None else Changed(f"{error}; line {line} is not as it was written") from None


async def discard_abandoned(driver: Driver, pieces: int) -> int:
    """Erase what imports left that were cut off a day ago, up to so many pieces; returns how many were erased."""
    done = 0
    for session_id in await driver.read(partial(importing.abandoned_imports, pieces)):
        finished = False
        while done < pieces and not finished:
            finished = await driver.write(partial(importing.discard_some, session_id))
            done += 1
    if done:
        await driver.scrub()
    return done


def _read(path: Path, target: Target) -> _File:
    """All of a file, compared with its digest; only its threads are kept."""
    seal, header, threads, kept = Seal(), Line(), list[Line](), dict[int, list[Line]]()
    with path.open("rb") as source:
        for line in session_file.lines_of(source, seal):
            match line["kind"]:
                case session_file.HEADER:
                    header = line
                case session_file.THREAD:
                    threads.append(line)
                case session_file.TURN | session_file.QUESTION:
                    kept.setdefault(_thread_of(line, seal.lines), []).append(line)
    try:
        key = target.of(key_of(header))
        declared = tuple(declared_of(key, line, kept.get(number, ())) for number, line in enumerate(threads))
    except InvalidInput:
        raise
    except StoreCorrupt as error:
        raise InvalidInput(f"its threads cannot be read: {error.what}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"its threads cannot be read: {type(error).__name__}: {error}") from None
    if len({thread.key for thread in declared}) < len(declared):
        raise InvalidInput("a thread is in it twice; export it again")
    if not any(thread.key.is_session_log for thread in declared):
        raise InvalidInput("the session's own log is not in it; export it again")
    return _File(path, seal, header, tuple(sorted(declared, key=lambda thread: not thread.key.is_session_log)))


def _thread_of(line: Line, number: int) -> int:
    of = line.get("of")
    if not isinstance(of, int):
        raise InvalidInput(f"line {number} cannot be read: it does not say of which thread it is")
    return of


class _Importer:
    """One import."""

    def __init__(self, journal: Journal, file: _File, key: SessionKey) -> None:
        self._journal = journal
        self._file = file
        self._key = key
        self._digest = file.seal.digest

    async def run(self, principal: str, reason: str | None, *, go_on: bool) -> Imported:
        """From its place in the journal to where it is seen."""
        begun = await self._begin()
        if begun is None:
            return Imported(self._key, self._digest, self._file.seal.counts, duplicate=True)
        try:
            await self._settle(begun, await self._write(begun))
        except StoreUnavailable:
            raise
        except TurnwrightError:
            await self._discard(begun.session_id)
            raise
        of = self._file.header
        origin = Origin(str(of.get("journal")), key_of(of).canonical, self._digest, principal, reason)
        script = partial(importing.show, self._key, begun, origin, go_on=go_on)
        unfinished, paused = await self._journal.driver.write(script)
        return Imported(self._key, self._digest, self._file.seal.counts, unfinished, paused)

    async def _begin(self) -> Begun | None:
        """A place for the session; None: all of it is there."""
        driver = self._journal.driver
        while True:
            begun = await driver.write(partial(importing.begin_import, self._key, self._digest))
            match begun.place:
                case "there":
                    other = await driver.read(partial(importing.difference, self._file.threads))
                    if other is None:
                        return None
                    raise CommandRejected("session_exists", f"{self._named} is there with other content: {other}")
                case "deleted":
                    raise CommandRejected(
                        "session_deleted",
                        f"{self._named} was deleted, and no id is used twice; choose another one",
                    )
                case "other":
                    await self._discard(begun.session_id)
                case _:
                    return begun

    @property
    def _named(self) -> str:
        whose = "the anonymous user" if self._key.user is None else f"user {self._key.user}"
        return f"session {self._key.session} of {whose}"

    async def _write(self, begun: Begun) -> dict[str, int]:
        """All rows of the file; the ids of its threads, by key."""
        driver, threads = self._journal.driver, self._file.threads
        for some in in_pieces(threads, PAGE_THREADS_MAX):
            await driver.write(partial(importing.write_threads, self._key, begun, self._digest, some))
        ids = await self._thread_ids(begun.session_id)
        reading = Reading(begun.session_id, begun.position, self._key, ids)
        with closing(_pieces(self._file, reading)) as pieces:
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                await driver.write(partial(importing.write_piece, self._key, begun, self._digest, piece))
        return ids

    async def _thread_ids(self, session_id: int) -> dict[str, int]:
        found, after = dict[str, int](), 0
        while True:
            script = partial(rows, "thread_page_of_session", after, PAGE_THREADS_MAX, session_id)
            page = await self._journal.driver.read(script)
            found |= {key: thread_id for thread_id, key in page}
            if len(page) < PAGE_THREADS_MAX:
                return found
            after = page[-1][0]

    async def _settle(self, begun: Begun, ids: dict[str, int]) -> None:
        """The session's log first: what a thread takes of a budget depends on the session's control."""
        for thread in self._file.threads:
            thread_id = ids[thread.key.canonical]
            wrong = await settle(self._journal.driver, begun, self._digest, thread, thread_id)
            if wrong is not None:
                raise InvalidInput(f"the file is not what was exported: {wrong}; nothing was imported")

    async def _discard(self, session_id: int) -> None:
        while not await self._journal.driver.write(partial(importing.discard_some, session_id)):
            pass
        await self._journal.driver.scrub()


def _pieces(file: _File, reading: Reading) -> Generator[Piece]:
    """The file's rows, some at a time.

    Raises:
        InvalidInput: it is not what was exported, or another one than was read first.
    """
    seal = Seal()
    with file.path.open("rb") as source:
        for number, line in enumerate(session_file.lines_of(source, seal), start=1):
            try:
                reading.take(line)
            except InvalidInput as error:
                raise InvalidInput(f"line {number} is not what was exported: {error}") from None
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                raise InvalidInput(f"line {number} cannot be read: {type(error).__name__}: {error}") from None
            if reading.size >= PIECE_BYTES_MAX or reading.lines >= PIECE_LINES_MAX:
                yield reading.piece()
    if seal.digest != file.seal.digest:
        raise InvalidInput("the file was changed while it was imported; nothing was imported, begin again")
    yield reading.piece()
