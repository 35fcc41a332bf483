"""A session as a file, out of one journal and into another.

Rule: whoever got the last line of an export got all of it. An import is done where the journal is: the file is read
twice, and nothing of it is believed before it is proven.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from types import EllipsisType
from typing import Unpack

from turnwright.client.access import Access, How
from turnwright.client.errors import rejections
from turnwright.journal.ids import SessionKey
from turnwright.journal.store_import import Imported, Target


class Exporting(ABC):
    """What can be exported."""

    _access: Access
    key: SessionKey

    @abstractmethod
    async def status(self) -> object:
        """The session now. Raises `NotFound`."""

    async def export(self) -> AsyncIterator[bytes]:
        """The session as the lines of a file, with all that is in it, as it is now; `Client.import_session` reads it.

        Turns that run go on, and what they do from now on is not in it.

        Raises:
            NotFound: there is no such session.
            CommandRejected: `content_erased` or `session_deleted`, when that happened meanwhile; the file is not whole.
                `not_whole`: it has forks of another session's threads, which are to be made whole first.
            StoreUnavailable: the file is not whole; begin it again.
        """
        await self.status()
        with rejections(self.key):
            async for line in self._access.backend.export(self.key):
                yield line


class Importing:
    """Who can import."""

    _access: Access

    async def import_session(
        self,
        path: Path | str,
        *,
        user: str | EllipsisType | None = ...,
        session_id: str | None = None,
        go_on: bool = False,
        **how: Unpack[How],
    ) -> Imported:
        """Take in a session that was exported: all of it or nothing, and once however often it is asked for.

        Turns that have not ended come as they were. The session is paused because of them, so that they do not run in
        two places: resume it to go on.

        Args:
            path: the file.
            user: whose it is to be (None: the anonymous one's; left out: whose it was).
            session_id: its id here; None: the one it had.
            go_on: do not pause it.

        Raises:
            InvalidInput: the file is not whole, or not what was exported.
            CommandRejected: `session_exists` (with other content), `session_deleted`, `turn_exists` (the session is in
                this journal under another id), `import_busy`, `import_lost` (discarded meanwhile: import it again).
            StoreUnavailable: call it again; it goes on where it was.
        """
        _, principal, reason = self._access.said(how)
        target = Target(self._access.tenant, user, session_id)
        with rejections():
            return await self._access.backend.import_session(Path(path), target, principal, reason, go_on=go_on)
