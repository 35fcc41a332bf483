"""A session as a file, streamed: a piece of it is in memory at a time.

    async for line in export_session(journal, key):
        file.write(line)

Rule: whoever got the last line got all of it, as it was at one moment; an export that ends without it is no file.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version

from turnwright.journal import session_file
from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.control import REDUCER_VERSION
from turnwright.journal.enlisted import take_in
from turnwright.journal.entries import EntryErased
from turnwright.journal.errors import CommandRejected, StoreUnavailable
from turnwright.journal.ids import SessionKey
from turnwright.journal.session_file import BLOB, ENTRY, Line, Seal
from turnwright.journal.store import Journal
from turnwright.journal.transact import exporting
from turnwright.journal.transact.exporting import Outline, Outlined

OUTLINES_MAX = 50


async def export_session(journal: Journal, key: SessionKey) -> AsyncIterator[bytes]:
    """The lines of a session's file. What waits in the inbox for its threads is taken in first.

    Raises:
        CommandRejected: `unknown_session`; `content_erased` or `session_deleted`, when that happens meanwhile.
        StoreUnavailable: export it again.
    """
    outline = await _outline(journal, key)
    seal, last = Seal(), Missing()
    async for line in _lines(journal, key, outline):
        last.look(line)
        written = session_file.written(line)
        seal.add(line["kind"], written)
        yield written
    last.check()
    yield seal.end()


class Missing:
    """Content that is gone without an entry that says so: it was erased since the outline was read."""

    def __init__(self) -> None:
        self._erased: set[tuple[int, int]] = set()

    def look(self, line: Line) -> None:
        """One more line of the file."""
        if line["kind"] != ENTRY:
            return
        if line.get("erased"):
            self._erased.add((line["of"], line["seq"]))
        elif line["type"] == EntryErased.TYPE:
            self._erased.discard((line["of"], line["body"]["erased_seq"]))

    def check(self) -> None:
        """Raises `CommandRejected` if there is some."""
        if self._erased:
            raise CommandRejected(
                "content_erased", "content of the session was erased while it was exported; export it again"
            )


async def _outline(journal: Journal, key: SessionKey) -> Outline:
    """What to export, at a moment when nothing waits in the inbox: what one thread told another would be lost."""
    for _ in range(OUTLINES_MAX):
        outline = await journal.driver.read(partial(exporting.find_outline, key))
        if outline is None:
            raise CommandRejected("unknown_session", f"there is no session {key.session}")
        if not outline.waiting:
            return outline
        for thread in outline.waiting:
            await take_in(journal.driver, thread, journal.terms)
    raise StoreUnavailable(f"threads of session {key.session} keep telling each other things; pause it, or try again")


async def _lines(journal: Journal, key: SessionKey, outline: Outline) -> AsyncIterator[Line]:
    yield await _header(journal, key, outline)
    for thread in outline.threads:
        yield thread.line
        for line in thread.kept:
            yield line
    async for line in _blobs(journal, outline):
        yield line
    for number, thread in enumerate(outline.threads):
        async for line in _requests(journal, thread, number):
            yield line
    after = 0
    while after < outline.position:
        page = await journal.driver.read(partial(exporting.entry_lines, key, outline, after))
        for line in page:
            yield line
        after = page[-1]["position"]


async def _header(journal: Journal, key: SessionKey, outline: Outline) -> Line:
    """What it is. Of blobs and requests there may be more: those that came while it was written."""
    return {
        "kind": session_file.HEADER,
        "format": session_file.FORMAT,
        "format_version": session_file.FORMAT_VERSION,
        "turnwright": version("turnwright"),
        "journal": await journal.journal_id(),
        "schema": await journal.driver.schema_version(),
        "reducers": {"control": REDUCER_VERSION, "state": STATE_REDUCER_VERSION},
        "session": {"tenant": key.tenant, "user": key.user, "session": key.session},
        "counts": {"threads": len(outline.threads), "entries": outline.position, "blobs": outline.blobs},
    }


async def _blobs(journal: Journal, outline: Outline) -> AsyncIterator[Line]:
    after = ""
    while (row := await journal.driver.read(partial(exporting.next_blob, outline, after))) is not None:
        after = row[0]
        yield {"kind": BLOB, "sha256": after, "bytes": base64.b64encode(row[1]).decode()}


async def _requests(journal: Journal, thread: Outlined, number: int) -> AsyncIterator[Line]:
    after: str | None = ""
    while after is not None:
        script = partial(exporting.request_lines, thread, number, after)
        lines, after = await journal.driver.read(script)
        for line in lines:
            yield line
