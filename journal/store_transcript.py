"""One session's transcripts.

Rule: the log's last line says how far both files have come, so what the model sees is written before the log. Whoever
finds the log behind the journal writes the rest of both. An erasure writes both anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from turnwright.journal.agent_state import AgentState
from turnwright.journal.canonical import digest
from turnwright.journal.entries import EntryErased, Erased
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import first, rows
from turnwright.journal.store import Journal
from turnwright.journal.store_disk import Disk
from turnwright.journal.transact.bases import load_state
from turnwright.journal.transact.reading import Located
from turnwright.journal.transcripts import files
from turnwright.journal.transcripts.lines import header, log_line, thread_of, view_lines
from turnwright.journal.transcripts.names import LOG, VIEW, place

PAGE_ENTRIES = 500
PAGE_THREADS = 500
Threads = dict[ThreadKey, list[bytes]]


class SessionTranscripts:
    """The two files of a session, as this process knows them. Only one process writes in a folder."""

    def __init__(self, journal: Journal, journal_id: str, folder: Path, key: SessionKey, disk: Disk) -> None:
        self._journal = journal
        self._disk = disk
        self._key = key
        self._log, self._view = place(folder, key, LOG), place(folder, key, VIEW)
        self._log_header, self._view_header = header("log", journal_id, key), header("view", journal_id, key)
        self._position: int | None = None
        self._seen: Threads | None = None

    async def update(self) -> int:
        """Bring both files to where the session is; returns its position."""
        if self._position is None or self._seen is None:
            await self._open()
        behind, touched, erased = None, dict[ThreadKey, None](), False  # in the order of what is new
        async for page in self._pages(self._position or 0):
            if behind is not None:
                await self._append(behind)
            behind = page
            touched |= {located.thread: None for located in page if located.thread.agent}
            if any(isinstance(located.entry.payload, EntryErased) for located in page):
                erased = True
                break
        if erased:
            await self._rewrite()
            await self._show(await self._threads())
        elif behind is not None:
            await self._show(touched)
            await self._append(behind)
        return self._position or 0

    async def remove(self) -> int:
        """Delete both; how many there were."""
        return await self._disk.do(remove, self._log, self._view)

    async def _open(self) -> None:
        """Find out what is there, and repair it."""
        last = await self._disk.do(files.repaired, self._log, self._log_header)
        self._position = 0 if last is None else last.get("position", 0)
        self._seen = await self._disk.do(_read, self._view, self._view_header, self._key)
        if last is None or not await self._is_of_the_journal(last):
            await self._rewrite()
        await self._show(await self._threads())

    async def _is_of_the_journal(self, last: dict[str, object]) -> bool:
        """Whether the journal has that entry still: it may have been put back to a backup."""
        if not last:
            return True
        position = last.get("position")
        if not isinstance(position, int):
            return False
        found = await self._journal.timeline(self._key, position - 1, 1)
        return bool(found) and found[0].entry.hash.hex() == last.get("hash")

    async def _pages(self, after: int) -> AsyncIterator[list[Located]]:
        while page := await self._journal.timeline(self._key, after, PAGE_ENTRIES):
            yield page
            after = page[-1].entry.position

    async def _append(self, page: list[Located]) -> None:
        await self._disk.do(files.append, self._log, [log_line(located) for located in page])
        self._position = page[-1].entry.position

    async def _rewrite(self) -> None:
        """The whole log; again while content was erased that this run had written already."""
        while True:
            position, erased, again = 0, set[tuple[ThreadKey, int]](), False
            beside = self._log.with_name(self._log.name + files.BESIDE)
            await self._disk.do(_begin, beside, self._log_header)
            async for page in self._pages(0):
                for located in page:
                    where, payload = located.thread, located.entry.payload
                    if isinstance(payload, Erased):
                        erased.add((where, located.entry.seq))
                    elif isinstance(payload, EntryErased):
                        again = again or (payload.erased_seq > 0 and (where, payload.erased_seq) not in erased)
                await self._disk.do(files.append, beside, [log_line(located) for located in page])
                position = page[-1].entry.position
            if not again:
                await self._disk.do(_put, beside, self._log)
                self._position = position
                return

    async def _threads(self) -> list[ThreadKey]:
        """All of the session's threads, as they were made."""
        session = await self._journal.driver.read(partial(first, "find_session", self._key.canonical))
        found, after = list[ThreadKey](), 0
        while session is not None:
            script = partial(rows, "thread_page_of_session", after, PAGE_THREADS, session[0])
            page = await self._journal.driver.read(script)
            found += [key for key in map(ThreadKey.parse, (row[1] for row in page)) if not key.is_session_log]
            if len(page) < PAGE_THREADS:
                break
            after = page[-1][0]
        return found

    async def _show(self, threads: Iterable[ThreadKey]) -> None:
        """Write what models see of these threads: behind what is there, or all of it anew."""
        assert self._seen is not None
        more = list[bytes]()
        shown = dict(self._seen)
        anew = not self._view.exists()
        for key in threads:
            state = await self._state(key)
            lines = view_lines(key, state)
            marks, known = [_mark(line) for line in lines], shown.get(key, [])
            anew = anew or marks[: len(known)] != known
            more += lines[len(known) :]
            shown[key] = marks
        if anew:
            shown = await self._show_anew()
        elif more:
            await self._disk.do(files.append, self._view, more)
        self._seen = shown

    async def _state(self, key: ThreadKey) -> AgentState:
        """Read past the cache, whose states are those that turns go on from."""
        return await self._journal.driver.read(partial(load_state, key))

    async def _show_anew(self) -> Threads:
        made = {key: view_lines(key, await self._state(key)) for key in await self._threads()}
        together = chain([self._view_header], *made.values())
        await self._disk.do(files.replace, self._view, together)
        return {key: [_mark(line) for line in lines] for key, lines in made.items()}


def remove(*paths: Path) -> int:
    """Delete files, and what a crash left beside them; how many there were. Folders that are empty then go, too.

    They are those of the user and the tenant, who may be deleted altogether.
    """
    count = 0
    for path in paths:
        path.with_name(path.name + files.BESIDE).unlink(missing_ok=True)
        count += path.exists()
        path.unlink(missing_ok=True)
    for folder in (paths[0].parent, paths[0].parent.parent):
        with contextlib.suppress(OSError):  # others are in it, or it is gone
            folder.rmdir()
    return count


def _mark(line: bytes) -> bytes:
    """Stands for a line that is in the file."""
    return digest(line)[:16]


def _read(view: Path, header_line: bytes, key: SessionKey) -> Threads:
    """What the file shows of each thread."""
    last = files.repaired(view, header_line)
    found: Threads = {}
    if last is None:
        view.unlink(missing_ok=True)  # it is another session's, or of another journal: it is written anew
        return found
    for line in files.lines(view, header_line):
        agent, thread = thread_of(files.parsed(line) or {})
        where = ThreadKey(key.tenant, key.user, agent, key.session, thread)
        found.setdefault(where, []).append(_mark(line))
    return found


def _begin(path: Path, header_line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.private(path, "wb") as file:
        file.write(header_line)


def _put(beside: Path, path: Path) -> None:
    with beside.open("r+b") as file:
        files.settle(file)
    beside.replace(path)
