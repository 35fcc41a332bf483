"""Which Temporal this worker serves its journal through, and that no other worker serves it through another.

Rule: a worker that finds its journal served through another Temporal waits, and says so; one whose own Temporal was
replaced under it says the new one, and works on. What this Temporal holds of the time when the journal had another id
is ended, a part in each round: workers of the new id do not meet it on their queue. One that lived when the journal got
its new id, but was frozen or cut off and so kept nobody from giving it one, finds that out here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import structlog
from temporalio.client import Client

from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreError, TurnwrightError
from turnwright.journal.transact.serving import (
    JournalRenamed,
    Rival,
    begin_serving,
    end_serving,
    forget_ended,
    see_standing,
)
from turnwright.worker.actor import Looper
from turnwright.worker.condition import Condition
from turnwright.worker.incarnation import end_earlier
from turnwright.workflows.engine import TemporalUnreachable, identify

LOOK_INTERVAL_S = 5.0
# All workers of a journal find out in turn that the cluster behind their address is another one.
RIVAL_LOOKS_MAX = 4
ENDED_IN_ROUND_MAX = 200

log = structlog.get_logger(__name__)


class ServedElsewhere(TurnwrightError, ConnectionError):
    """The journal is served through another Temporal; the message names a worker that does it and what to do."""


Eviction: TypeAlias = ServedElsewhere | JournalRenamed


class Engine(Looper):
    """Serves the journal through one Temporal while it runs.

    Args:
        driver: the journal's store.
        client: the Temporal.
        presence: gives this process's presence of the moment.
        journal_id: under which this worker begins what it begins.
        condition: where it is kept whether Temporal answers, for others to see.
    """

    def __init__(
        self,
        driver: Driver,
        client: Client,
        presence: Callable[[], str],
        journal_id: str,
        condition: Condition | None = None,
    ) -> None:
        super().__init__("engine", LOOK_INTERVAL_S)
        self.evicted: asyncio.Future[Eviction] = asyncio.get_running_loop().create_future()
        """Done when another Temporal has the journal, or it has another id, and this worker must end its work."""
        self._driver = driver
        self._client = client
        self._presence = presence
        self._journal_id = journal_id
        self._condition = condition or Condition()
        self._said: tuple[str, str] | None = None
        self._outlived_at = ""
        self._rivals = 0

    async def begin(self) -> None:
        """Serve.

        Raises:
            ServedElsewhere: a living worker serves the journal through another Temporal.
            JournalRenamed: the journal has another id.
        """
        rival = await self._serve(await self._identify())
        if rival is not None:
            raise await self._refusal(rival)

    async def end(self) -> None:
        """Serve no more. What was begun under an id that the journal had not any more is ended by whoever comes."""
        said, self._said = self._said, None
        with contextlib.suppress(StoreError):  # the row means nothing when this presence has ended
            if said is not None:
                await self._driver.write(partial(end_serving, said[0]))
            if self._outlived_at:
                await self._driver.write(partial(forget_ended, self._journal_id, self._outlived_at))

    async def round(self) -> None:
        """Look whether it is still the Temporal of before and the id too, and whether another has come beside it."""
        try:
            engine = await self._identify()
        except TemporalUnreachable:
            return  # the log says it where something is to be woken
        try:
            rival = await self._look(engine)
        except JournalRenamed as renamed:
            self._outlived_at = engine
            self._evict(renamed)
            return
        self._rivals = self._rivals + 1 if rival is not None else 0
        if rival is not None and self._rivals >= RIVAL_LOOKS_MAX:
            self._evict(await self._refusal(rival))
        if rival is None:
            await self._end_earlier(engine)

    async def _identify(self) -> str:
        try:
            engine = await identify(self._client)
        except TemporalUnreachable:
            self._condition.temporal_away()
            raise
        self._condition.temporal_there()
        return engine

    def _evict(self, why: Eviction) -> None:
        if not self.evicted.done():
            self.evicted.set_result(why)

    async def _end_earlier(self, engine: str) -> None:
        ended = await end_earlier(self._client, engine, self._driver, ENDED_IN_ROUND_MAX)
        if ended:
            log.info("earlier_incarnation_ended", workflows=ended)

    async def _look(self, engine: str) -> Rival | None:
        now = (self._presence(), engine)
        if self._said == now:
            standing = await self._driver.read(partial(see_standing, *now, self._journal_id))
            if standing.serves:
                return standing.rival
        elif self._said is not None:
            if self._said[1] != engine:
                log.warning("temporal_replaced", was=self._said[1], now=engine, then="its turns go on from the journal")
            await self.end()
        return await self._serve(engine)

    async def _serve(self, engine: str) -> Rival | None:
        presence = self._presence()
        rival = await self._driver.write(partial(begin_serving, presence, engine, self._journal_id))
        if rival is None:
            self._said = (presence, engine)
        return rival

    async def _refusal(self, rival: Rival) -> ServedElsewhere:
        info = next((p.info for p in await self._driver.presences() if p.presence_id == rival.presence), {})
        who = " ".join(str(info[name]) for name in ("label", "pid") if name in info)
        return ServedElsewhere(
            f"the journal is served through another Temporal ({rival.engine}) by the worker {rival.presence} ({who}): "
            "give this worker the same Temporal, or stop that one and all beside it"
        )
