"""A worker process, from its settings to its end.

Rule: what is away at the start is waited for, not died of: the store, then Temporal. The presence comes before
anything is claimed and goes after everything has ended, so nobody takes a draining worker for dead. A journal that got
a new id is another one, so nothing that is remembered of it outlives that: everything begins again.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import structlog

from turnwright.activities.models.making import find_unmakeable
from turnwright.activities.registry import Registry
from turnwright.activities.runtime.boundary import pass_by
from turnwright.activities.runtime.surroundings import Surroundings, nowhere
from turnwright.client.metrics.beside import Beside
from turnwright.client.metrics.showing import Showing
from turnwright.client.opening import open_journal
from turnwright.client.tracing.ids import JOURNAL_ID
from turnwright.client.tracing.tracing import Tracing, begin_tracing
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.snapshots.opening import snapshots_at
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import JournalRenamed
from turnwright.worker.actor import Actor, stop_all
from turnwright.worker.condition import Condition
from turnwright.worker.elders import OlderAtWork, check_elders
from turnwright.worker.engine import Engine, ServedElsewhere
from turnwright.worker.faults import read_fault
from turnwright.worker.loop_watch import LoopWatch
from turnwright.worker.presence import PresenceKeeper, WorkerInfo
from turnwright.worker.settings import Settings
from turnwright.worker.shift import Shift
from turnwright.worker.shown import shown_at
from turnwright.worker.temporal_client import connect
from turnwright.worker.temporal_numbers import TemporalNumbers
from turnwright.worker.terms import terms_of
from turnwright.worker.transcripts import Transcribing
from turnwright.workflows.engine import TemporalUnreachable
from turnwright.workflows.ids import default_task_queue
from turnwright.workflows.waking import Waker

T = TypeVar("T")
RETRY_WAIT_S_FIRST = 0.2
RETRY_WAIT_S_MAX = 5.0
SHIFT_PAUSE_S = 1.0
PUT_AWAY_S_MAX = 3.0

log = structlog.get_logger(__name__)


class WorkerProcess:
    """Carries out turns until it is told to stop.

    Args:
        settings: the settings of this process.
        registry: the agents it knows.
        label: what people call it.
    """

    def __init__(self, settings: Settings, registry: Registry, label: str = "worker") -> None:
        self._settings = settings
        self._registry = registry
        self._label = label
        self._stopping = asyncio.Event()
        if settings.snapshots is not None:
            snapshots_at(settings.snapshots)  # a driver that is not installed is said before anything is waited for
        self._condition = Condition(settings.max_concurrent_activities)
        self._unready = "it starts"
        self._tracing: Tracing | None = None
        self._temporal = TemporalNumbers(shown=settings.metrics_port is not None)
        beside = Beside(self._temporal_up, self._condition.rescues, self._temporal.text)
        self._showing = Showing(shown_at(settings), self._why_not_ready, beside)
        self._showing.know(registry.names, (tool.name for agent in registry for tool in agent.definition.tools))
        self._fault = read_fault(os.environ, settings.journal_url)

    def stop(self) -> None:
        """Finish or hand over what runs, then let `run` return."""
        self._unready = "it leaves"
        self._stopping.set()

    async def run(self) -> None:
        """Work until stopped.

        Raises:
            InvalidInput: the journal's URL names no store.
            StoreError: the journal is not there, or its tables are not those of this version.
        """
        async with self._showing:
            while not self._stopping.is_set():
                journal = await self._until_there(self._open_journal, StoreUnavailable)
                if journal is not None:
                    await self._work_on(journal)
        log.info("worker_stopped")

    def _why_not_ready(self) -> str:
        """Why this worker takes no work now; empty when it does."""
        return self._unready or ("Temporal does not answer" if self._condition.away_since_us is not None else "")

    async def _temporal_up(self) -> bool | None:
        return self._condition.temporal_up

    async def _work_on(self, journal: Journal) -> None:
        try:
            await self._appear_and_work(journal)
        except JournalRenamed as error:
            log.warning("journal_renamed", error=str(error), then="this worker begins again, under the new id")
        finally:
            self._showing.end()
            await journal.close()
            if self._tracing is not None:
                await self._tracing.end()

    async def _appear_and_work(self, journal: Journal) -> None:
        def announce(presence_id: str) -> None:
            journal.terms = replace(journal.terms, presence=presence_id)

        await self._until_there(lambda: check_elders(journal.driver), OlderAtWork, StoreUnavailable)
        journal_id = await self._until_there(journal.journal_id, StoreUnavailable)
        if journal_id is None:
            return
        JOURNAL_ID.set(journal_id)
        queue = self._settings.task_queue or default_task_queue(journal_id)
        tools = {agent.name: agent.tool_names for agent in self._registry}
        info = WorkerInfo(self._label, queue, self._registry.names, tools)
        presence = PresenceKeeper(journal.driver, info, self._settings.lease_s, announce, self._condition)
        await self._until_there(presence.start, StoreUnavailable)
        looking = asyncio.create_task(self._say_unmakeable(), name="models")
        beside: list[Actor] = [LoopWatch()]
        if self._settings.transcripts is not None:
            beside.append(Transcribing(journal, self._settings.transcripts))
        try:
            for actor in beside:
                await actor.start()
            await self._work(journal, presence, partial(self._make_waker, journal_id, queue))
        finally:
            looking.cancel()
            await stop_all(beside)
            await presence.stop()

    async def _say_unmakeable(self) -> None:
        """Beside the work, because it loads the providers' SDKs."""
        for agent, reason in (await asyncio.to_thread(find_unmakeable, self._registry)).items():
            log.warning("model_cannot_be_made", agent=agent, reason=reason, effect="its turns fail")

    async def _work(
        self, journal: Journal, presence: PresenceKeeper, make_waker: Callable[[], Awaitable[Waker]]
    ) -> None:
        pause_s, said = SHIFT_PAUSE_S, ""
        while not self._stopping.is_set():
            waker = await self._until_there(make_waker, TemporalUnreachable)
            if waker is None:
                return
            engine = self._engine(journal, waker)
            await self._until_there(engine.start, TemporalUnreachable, StoreUnavailable, ServedElsewhere)
            if self._stopping.is_set():
                await engine.stop()
                return
            shift = Shift(
                self._settings,
                journal,
                waker,
                self._registry,
                self._label,
                around=self._around(),
                lapsed=lambda: presence.lapsed,
                condition=self._condition,
            )
            self._say_ready(waker)
            try:
                await shift.work(self._stopping, engine.evicted)
            except ServedElsewhere as error:
                log.warning("worker_evicted", error=str(error), then="it waits until it may work")
            except JournalRenamed:
                raise
            except Exception as error:  # whatever it is, a fresh client and worker are the cure
                what = f"{type(error).__name__}: {error}"
                pause_s = min(pause_s * 2, RETRY_WAIT_S_MAX) if what == said else SHIFT_PAUSE_S
                # A namespace that is gone for an hour is one traceback.
                log.exception("worker_failed", error=what, again_in_s=pause_s, exc_info=what != said)
                said = what
                await self._pause(pause_s)
            finally:
                self._unready = self._unready or "it begins again"
                await engine.stop()

    def _around(self) -> Surroundings:
        """Whoever looks on: nobody, unless faults are to be made or spans are asked for."""
        boundary = pass_by if self._fault is None else self._fault.at_boundary
        return Surroundings(boundary, nowhere if self._tracing is None else self._tracing.spans.within)

    async def _open_journal(self) -> Journal:
        journal = await open_journal(self._settings.journal_url)
        if self._fault is not None:
            journal.driver.hook = self._fault.at_statement
        journal.terms = terms_of(self._settings)
        self._showing.begin(journal)
        try:
            self._tracing = await begin_tracing(journal, "worker")
        except BaseException:
            await journal.close()
            raise
        return journal

    async def _make_waker(self, journal_id: str, queue: str) -> Waker:
        try:
            client = await connect(self._settings, runtime=self._temporal.runtime)
        except TemporalUnreachable:
            self._condition.temporal_away()
            raise
        return Waker(client, journal_id, queue, self._settings.workflow_task_timeout_s)

    def _engine(self, journal: Journal, waker: Waker) -> Engine:
        return Engine(
            journal.driver,
            waker.client,
            lambda: journal.terms.presence or "",
            waker.journal_id,
            self._condition,
        )

    def _say_ready(self, waker: Waker) -> None:
        if not self._stopping.is_set():
            self._unready = ""
        log.info(
            "worker_ready",
            agents=list(self._registry.names),
            temporal=waker.client.service_client.config.target_host,
            namespace=waker.client.namespace,
            task_queue=waker.task_queue,
        )

    async def _until_there(self, make: Callable[[], Awaitable[T]], *away: type[Exception]) -> T | None:
        """Try until it works, or until stopped (None)."""
        wait_s, said = RETRY_WAIT_S_FIRST, ""
        while not self._stopping.is_set():
            try:
                return await self._unless_stopped(make())
            except away as error:
                if str(error) != said:
                    log.warning("waiting", error=str(error))
                said = str(error)
            await self._pause(wait_s)
            wait_s = min(wait_s * 2, RETRY_WAIT_S_MAX)
        return None

    async def _unless_stopped(self, making: Awaitable[T]) -> T | None:
        """What it makes, or None once stopped: what is silent, instead of refusing, may take minutes to say so.

        What it had begun is put away first, for as long as that may take, or it would outlive what it stands on.
        """
        made, asked = asyncio.ensure_future(making), asyncio.create_task(self._stopping.wait())
        await asyncio.wait((made, asked), return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if not made.done():
            made.cancel()
            await asyncio.wait((made,), timeout=PUT_AWAY_S_MAX)
            if not made.done() or made.cancelled() or made.exception() is not None:
                return None
        return made.result()

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return
