"""Wake-ups after accepted commands: sent in the background, at most once at a time for each thread.

Rule: a command is in the journal before its wake-up is sent, so losing one costs latency and never a command. No
caller waits for Temporal, and nothing that goes wrong here is a caller's error. A Temporal that is not the one through
which the journal is served gets none: what it would start there, no worker would ever meet. Nor is anything started
under an id that the journal has no more; clients live long, and it may get a new one meanwhile.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import TYPE_CHECKING

import structlog

from turnwright.client.unreached import brief
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import serving
from turnwright.workflows.ids import default_task_queue

if TYPE_CHECKING:
    from temporalio.client import Client as TemporalClient

    from turnwright.workflows.waking import Waker

ENGINE = "turnwright.workflows.engine"
WAKE_TIMEOUT_S = 3.0
IN_FLIGHT_MAX = 16
PENDING_MAX = 10_000
ELSEWHERE = (
    "its workers use another Temporal than this client: give it theirs (temporal_address, or TEMPORAL_ADDRESS of "
    "the environment)"
)

log = structlog.get_logger(__name__)


class Wakes:
    """Sends wake-ups for one journal. `connect` None: none are sent."""

    def __init__(
        self, journal: Journal, connect: Callable[[], Awaitable[TemporalClient]] | None, task_queue: str | None
    ) -> None:
        self._journal = journal
        self._connect = connect
        self._task_queue = task_queue
        self._waker: Waker | None = None
        self._loading: asyncio.Task[ModuleType] | None = None
        self._slots = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._sending: dict[ThreadKey | SessionKey, asyncio.Task[None]] = {}
        self._again: set[ThreadKey | SessionKey] = set()
        self._failure: str | None = None
        self._tried = False
        self._is_theirs = False
        self.closed = False

    @property
    def failure(self) -> str | None:
        """Why the last wake-up was not sent; None when it was."""
        return self._failure

    async def look(self) -> bool | None:
        """Whether Temporal took the last wake-up, or answers now; None: none was sent, or the journal is away."""
        if self._failure is not None and self._connect is not None:
            try:
                async with asyncio.timeout(WAKE_TIMEOUT_S):
                    await self._ask()
            except StoreUnavailable:
                return None
            except Exception as error:  # noqa: BLE001 - as for a wake-up
                self._failure = brief(error)
            else:
                self._failure = None
        return self._failure is None if self._tried else None

    def send(self, key: ThreadKey | SessionKey) -> None:
        """Wake it soon; a commit during an earlier wake-up for the same key gets another one after that."""
        if self._connect is None:
            return
        if key in self._sending:
            self._again.add(key)
        elif len(self._sending) < PENDING_MAX:
            self._sending[key] = asyncio.create_task(self._deliver(key))

    async def flush(self, timeout_s: float) -> bool:
        """Wait for what is on its way, and before that as long for what sends it; whether all of it was sent."""
        pending = list(self._sending.values())
        if pending:
            await asyncio.wait({self._loaded()}, timeout=timeout_s)
            await asyncio.wait(pending, timeout=timeout_s)
        return not self._sending and self._failure is None

    async def close(self, timeout_s: float) -> None:
        """Wait a little for what is on its way, then drop it."""
        self.closed = True
        await self.flush(timeout_s)
        self._connect = None
        tasks = list(self._sending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _loaded(self) -> asyncio.Task[ModuleType]:
        """What sends them. It loads Temporal's SDK, which takes most of a second: once, and for commands only."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(importlib.import_module, ENGINE))
        return self._loading

    async def _deliver(self, key: ThreadKey | SessionKey) -> None:
        try:
            async with self._slots:
                await self._wake(key)
            while key in self._again:
                self._again.discard(key)
                async with self._slots:
                    await self._wake(key)
        finally:
            self._again.discard(key)
            del self._sending[key]

    async def _wake(self, key: ThreadKey | SessionKey) -> None:
        try:
            await asyncio.shield(self._loaded())
            async with asyncio.timeout(WAKE_TIMEOUT_S):
                waker = await self._connected()
                await self._check(waker)
                await (waker.session(key) if isinstance(key, SessionKey) else waker.thread(key))
        except Exception as error:  # noqa: BLE001 - whatever it is, the sweeper does it instead
            if self._failure is None:
                log.warning("wake_not_sent", error=brief(error), effect="a sweeper does it later")
            self._failure = brief(error)
        else:
            self._failure = None
        self._tried = True

    async def _ask(self) -> None:
        from turnwright.workflows.engine import identify  # noqa: PLC0415 - it is loaded, for a wake-up was tried

        waker = await self._connected()
        await identify(waker.client)
        await self._check(waker)

    async def _connected(self) -> Waker:
        from turnwright.workflows.waking import Waker  # noqa: PLC0415 - what takes long of it is loaded

        assert self._connect is not None
        client = await self._connect() if self._waker is None else self._waker.client
        journal_id = await self._journal.journal_id()
        if self._waker is None or self._waker.journal_id != journal_id:
            self._waker = Waker(client, journal_id, self._task_queue or default_task_queue(journal_id))
            self._is_theirs = False
        return self._waker

    async def _check(self, waker: Waker) -> None:
        """Until workers that serve the journal were once seen to use this Temporal, see that none uses another.

        Raises:
            ConnectionError: they use another one.
        """
        from turnwright.workflows.engine import TemporalUnreachable, identify  # noqa: PLC0415 - as above

        if self._is_theirs:
            return
        engines = {worker.engine for worker in await self._journal.driver.read(serving)}
        if not engines:
            return
        try:
            self._is_theirs = await identify(waker.client) in engines
        except TemporalUnreachable:
            return  # the wake-up itself tells why, or needs less
        if not self._is_theirs:
            raise ConnectionError(ELSEWHERE)
