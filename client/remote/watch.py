"""Watching commits through a gateway: its stream of events is used as a wake-up, and nothing else of it.

Rule: what happened is read from the journal, so a stream that breaks costs latency and never an entry.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from turnwright.client.errors import AccessDenied
from turnwright.client.remote.http import Http
from turnwright.journal.errors import InvalidInput, StoreError

AGAIN_S = 1.0


class RemoteWatch:
    """One standing watch (see `turnwright.journal.driver.Subscription`)."""

    def __init__(self, http: Http, path: str, owner: Mapping[str, str | bool]) -> None:
        self._http = http
        self._path = f"{path}/changes"
        self._owner = owner
        self._event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    async def changed(self, timeout_s: float) -> bool:
        """Wait for a wake-up at most that long; False when there was none."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True

    async def _run(self) -> None:
        while True:
            with suppress(StoreError, InvalidInput, AccessDenied):
                async with self._http.lines(self._path, self._owner) as lines:
                    async for line in lines:
                        if line.startswith("event:"):
                            self._event.set()
            self._event.set()  # something may have happened since
            await asyncio.sleep(AGAIN_S)
