"""All sessions of a journal as transcripts in a folder.

    writer = TranscriptWriter(journal, Path("transcripts"))
    if writer.take():             # one process at a time writes in a folder
        await writer.round()      # everything up to now

Rule: it remembers nothing that the files and the journal do not say. A session that cannot be read is left out and
said; the others go on. Files of deleted sessions are deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from turnwright.journal.errors import UNREADABLE
from turnwright.journal.ids import SessionKey
from turnwright.journal.script import first, rows
from turnwright.journal.store import Journal
from turnwright.journal.store_disk import Disk
from turnwright.journal.store_transcript import SessionTranscripts, remove
from turnwright.journal.transact.deleting import count_also
from turnwright.journal.transcripts import TRANSCRIPTS
from turnwright.journal.transcripts.files import BESIDE
from turnwright.journal.transcripts.names import LOG, VIEW, place

LOCK = ".lock"
PAGE_SESSIONS = 1_000
SESSIONS_KNOWN_MAX = 256

log = structlog.get_logger(__name__)


class TranscriptWriter:
    """Writes transcripts into a folder."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._journal = journal
        self._folder = folder
        self._lock: int | None = None
        self._journal_id = ""
        self._positions: dict[int, tuple[SessionKey, int]] = {}
        self._known: OrderedDict[SessionKey, SessionTranscripts] = OrderedDict()
        self._unread: set[SessionKey] = set()
        self._swept = False
        self._disk = Disk()

    def take(self) -> bool:
        """Make the folder and be the one that writes there; False: another process is."""
        if self._lock is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # as confidential as the journal
            lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                return False
            self._lock = lock
        return True

    def leave(self) -> None:
        """Let another one write, as soon as nothing of this one does any more. Harmless twice."""
        lock, self._lock = self._lock, None
        self._known.clear()
        self._positions.clear()
        self._swept = False
        if lock is not None:
            self._disk.when_done(partial(os.close, lock))

    async def round(self) -> int:
        """Write what is new; of how many sessions there was something."""
        journal_id = await self._journal.journal_id()
        if journal_id != self._journal_id:
            self._journal_id = journal_id
            self._known.clear()
            self._positions.clear()
        if not self._swept:
            await self._sweep()
            self._swept = True
        changed, there, after = 0, set[int](), 0
        while True:
            page = await self._journal.driver.read(partial(rows, "session_positions", after, PAGE_SESSIONS))
            for session_id, canonical, position in page:
                there.add(session_id)
                changed += await self._look(session_id, canonical, position)
            if len(page) < PAGE_SESSIONS:
                break
            after = page[-1][0]
        for session_id in self._positions.keys() - there:
            key, _ = self._positions.pop(session_id)
            self._known.pop(key, None)
            self._unread.discard(key)
            await self._remove_deleted(key)
        return changed

    async def _look(self, session_id: int, canonical: str, position: int) -> bool:
        known = self._positions.get(session_id)
        if known is not None and known[1] == position:
            return False
        key = SessionKey(*json.loads(canonical)) if known is None else known[0]
        if known is not None and known[1] > position:
            self._known.pop(key, None)  # the journal was put back to a backup
        try:
            await self._transcripts(key).update()
        except UNREADABLE as error:
            self._known.pop(key, None)
            if key not in self._unread:
                log.warning("transcript_not_written", session=key.canonical, why=str(error))
            self._unread.add(key)
        except BaseException:
            self._known.pop(key, None)  # half a line may stand there, which is repaired when it is opened anew
            raise
        else:
            self._unread.discard(key)
        self._positions[session_id] = (key, position)
        return True

    def _transcripts(self, key: SessionKey) -> SessionTranscripts:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = SessionTranscripts(
                self._journal, self._journal_id, self._folder, key, self._disk
            )
        self._known.move_to_end(key)
        while len(self._known) > SESSIONS_KNOWN_MAX:
            self._known.popitem(last=False)
        return found

    async def _sweep(self) -> None:
        """Delete what crashes left, and the files of sessions that were deleted while nobody wrote here."""
        await self._disk.do(_remove_left, self._folder)
        for path in await self._disk.do(lambda: sorted(self._folder.glob(f"*/*/*{VIEW}"))):
            key = await self._disk.do(_whose, path, self._journal_id)
            if key is not None:
                await self._remove_deleted(key)

    async def _remove_deleted(self, key: SessionKey) -> None:
        """Delete a session's files if it was deleted, or is not in the journal, which was put back to a backup."""
        row = await self._journal.driver.read(partial(first, "find_session", key.canonical))
        if row is not None and row[3] is None:
            return
        count = await self._disk.do(remove, place(self._folder, key, LOG), place(self._folder, key, VIEW))
        if count and row is not None:
            await self._journal.driver.write(partial(count_also, row[0], TRANSCRIPTS, count))
        if count:
            log.info("transcripts_deleted", session=key.canonical, files=count)


def _remove_left(folder: Path) -> None:
    for path in folder.glob(f"*/*/*{VIEW}{BESIDE}"):
        path.unlink(missing_ok=True)


def _whose(path: Path, journal_id: str) -> SessionKey | None:
    """The session of a file, if it is one of this journal's."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with path.open("rb") as file:
            said: dict[str, Any] = json.loads(file.readline())
        if said["journal"] == journal_id:
            return SessionKey(said["tenant"], said["user"], said["session"]).checked()
    return None
