"""What running model calls say, written while they run for whoever listens.

Rule: it never stands in the way of a call. Nothing is written unless somebody listens; one batch at a time is on its
way, and what is said meanwhile goes with the next. A store that is slow or away costs who listens, and nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from turnwright.activities.models.port import Partial
from turnwright.activities.runtime.seldom import Seldom
from turnwright.activities.runtime.watcher import Watched
from turnwright.journal.deltas import Delta
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.store_deltas import Deltas

BATCH_S = 0.1
FIRST_LOOK_S = 0.1
LOOK_S = 1.0
AGAIN_S = 1.0
CLOSE_S = 0.2

log = structlog.get_logger(__name__)


class Draft:
    """The words of one model call. `written`: some of them may be in the store."""

    def __init__(self, deltas: Deltas, watched: Watched, seldom: Seldom) -> None:
        self.written = False
        self._deltas = deltas
        self._of = watched
        self._seldom = seldom
        self._partial: Partial | None = None
        self._batch: tuple[Delta, ...] = ()
        self._n = 1
        self._listened = False
        self._moved = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def key(self) -> ThreadKey:
        """The thread of the call."""
        return self._of.key

    def said(self, partial: Partial) -> None:
        """Take notice that the model said something more."""
        self._partial = partial
        if self._listened:
            self._moved.set()

    def hear(self, *, listened: bool) -> None:
        """Learn whether somebody listens now; what was said before and is not written yet is for them, too."""
        self._listened = listened
        if listened:
            self._moved.set()
            if self._task is None:
                self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Write nothing more. A batch on its way may arrive, for a moment: what comes after the report stays lying."""
        if self._task is None:
            return
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._writing.acquire()
        finally:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            await self._moved.wait()
            self._moved.clear()
            async with self._writing:
                done = await self._write()
            await asyncio.sleep(BATCH_S if done else AGAIN_S)
            if not done:
                self._moved.set()

    async def _write(self) -> bool:
        """Write a batch, if there is one; one that failed is written again as it is, for it may be there."""
        self._batch = self._batch or self._taken()
        if not self._batch:
            return True
        self.written = True
        try:
            await self._deltas.add(self.key, self._of.thread_id, self._n, self._batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the call goes on
            if self._seldom.is_due("draft_not_written"):
                log.warning("draft_not_written", error=str(error), effect="who listens hears it later, or not at all")
            return False
        self._n += len(self._batch)
        self._batch = ()
        return True

    def _taken(self) -> tuple[Delta, ...]:
        if self._partial is None:
            return ()
        of = self._of
        return tuple(
            Delta(turn_id=of.turn_id, step=of.step, ordinal=of.ordinal, index=new.index, kind=new.kind, text=new.text)
            for new in self._partial.take()
        )


class Drafting:
    """Finds out which of this process's model calls somebody listens to: soon after each begins, then every second."""

    def __init__(self, journal: Journal, seldom: Seldom) -> None:
        self._deltas = journal.deltas
        self._seldom = seldom
        self._open: set[Draft] = set()
        self._some = asyncio.Event()
        self._new = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look; harmless when it does."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="drafting")

    async def stop(self) -> None:
        """Look no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def draft(self, watched: Watched) -> Draft:
        """A draft of a call that was claimed; `writing` writes it."""
        return Draft(self._deltas, watched, self._seldom)

    @asynccontextmanager
    async def writing(self, draft: Draft) -> AsyncIterator[None]:
        """Write what is said while the block runs, if somebody listens."""
        self._open.add(draft)
        self._some.set()
        self._new.set()
        try:
            yield
        finally:
            self._open.discard(draft)
            if not self._open:
                self._some.clear()
            await draft.close()

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(FIRST_LOOK_S)  # calls that begin meanwhile are looked for together, short ones never
            self._new.clear()
            await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._new.wait()

    async def _look(self) -> None:
        drafts = list(self._open)
        if not drafts:
            return
        try:
            listened = await self._deltas.listened({draft.key for draft in drafts})
        except Exception as error:  # noqa: BLE001 - as above
            if self._seldom.is_due("listeners_not_found"):
                log.warning("listeners_not_found", error=str(error), effect="nobody hears what models say")
            return
        for draft in self._open.intersection(drafts):
            draft.hear(listened=draft.key in listened)
