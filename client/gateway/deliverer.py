"""Delivers what is committed to the webhooks that are to be told of it.

Rule: the journal is the outbox. To each receiver goes one entry after the other, in order of position, and how far it
has come is saved after it has taken one; what was sent right before a crash is sent again. One gateway leads, others
deliver only while that one is frozen. A receiver that fails keeps nobody else waiting, and a host whose receivers all
hang only itself.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import replace
from functools import cached_property, partial
from types import TracebackType
from typing import Self

import httpx2
import structlog

from turnwright.client.gateway.delivering import Delivering
from turnwright.client.gateway.lanes import Lanes
from turnwright.client.gateway.names import Names
from turnwright.client.gateway.posting import Receiver, WebhookSettings, host_of
from turnwright.journal.driver import Subscription
from turnwright.journal.errors import StoreError
from turnwright.journal.lead import Lead
from turnwright.journal.store import Journal
from turnwright.journal.transact.webhooks import TOPIC, find_due
from turnwright.journal.webhooks import DueWebhook

LEAD = "webhooks"
LEASE_S = 3.0
BEATS_PER_LEASE = 3
LOOK_S = 1.0
REST_S = 0.02
REST_PER_LOOK = 4
AGAIN_S = 1.0
PAGE_DUE = 100
RUNNING_MAX = 200
HOST_RUNNING_MAX = 8

log = structlog.get_logger(__name__)


class Deliverer:
    """Delivers while it is entered."""

    def __init__(self, journal: Journal, settings: WebhookSettings) -> None:
        self.lead = Lead(journal.driver, LEAD, LEASE_S)
        self._journal = journal
        self._settings = settings
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._ended: set[str] = set()
        self._lanes = Lanes(HOST_RUNNING_MAX)
        self._names = Names()
        self._freed = asyncio.Event()
        self._after = ""
        self._idle = True
        self._led_until_s = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="webhooks")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._stop_delivering()
        self._names.close()
        await self.lead.release()

    async def _run(self) -> None:
        while True:
            try:
                await self._watch()
            except Exception as error:  # whatever it is, webhooks go on
                log.warning("webhooks_interrupted", error=str(error), exc_info=not isinstance(error, StoreError))
                await asyncio.sleep(AGAIN_S)

    async def _watch(self) -> None:
        """Deliver until there are webhooks and were none, or the other way round; without any no commit matters."""
        idle = self._idle
        async with self._journal.driver.watch({TOPIC} if idle else None) as watching:
            while True:
                wait_s = await self._round()
                if self._idle != idle:
                    return
                await self._news(watching, wait_s)

    async def _news(self, watching: Subscription, wait_s: float) -> None:
        """Until something is committed, or somebody for whom there was no room can begin."""
        waits = [asyncio.create_task(watching.changed(wait_s)), asyncio.create_task(self._freed.wait())]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._freed.clear()
        for one in done:
            one.result()

    async def _round(self) -> float:
        """Begin what is due, and rest; for how long there is nothing to do unless something is committed."""
        if not await self._leads():
            await self._stop_delivering()
            await asyncio.sleep(LOOK_S)
            return 0
        began_s = time.monotonic()
        wait_s = await self._begin_due()
        # All that is committed meanwhile costs one look, and looking never takes more than a part of the time.
        await asyncio.sleep(max(REST_S, REST_PER_LOOK * (time.monotonic() - began_s)))
        return wait_s

    async def _leads(self) -> bool:
        if not self.lead.held or time.monotonic() >= self._led_until_s:
            self._led_until_s = time.monotonic() + LEASE_S / BEATS_PER_LEASE
            return await self.lead.role() != "follower"
        return True

    async def _begin_due(self) -> float:
        """Begin what is due; for how long nothing more will be."""
        wait_s = LOOK_S
        while len(self._running) < RUNNING_MAX:
            self._ended.clear()
            page = await self._journal.driver.read(partial(find_due, self._after, PAGE_DUE))
            self._after = page.after
            self._idle = not page.active
            for due in page.webhooks:
                if not self._begin(due):
                    wait_s = 0.0
            if not page.after:
                wait_s = 0.0 if self._lanes.go_round() else wait_s
                return wait_s if page.wait_s is None else min(wait_s, page.wait_s)
        return wait_s

    def _begin(self, due: DueWebhook) -> bool:
        """Whether that is all for now. Who delivered while this was read stands elsewhere now: look again."""
        webhook_id, host = due.webhook_id, host_of(due.url)
        if webhook_id in self._running:
            self._again.add(webhook_id)
        elif webhook_id in self._ended:
            return False
        elif self._lanes.take(host, webhook_id):
            task = self._running[webhook_id] = asyncio.create_task(self._deliver(due, host))
            task.add_done_callback(lambda _: self._end(webhook_id, host))
        return True

    def _end(self, webhook_id: str, host: str) -> None:
        if self._lanes.is_crowded(host) or len(self._running) >= RUNNING_MAX:
            self._freed.set()
        self._lanes.leave(host)
        del self._running[webhook_id]
        self._again.discard(webhook_id)
        self._ended.add(webhook_id)

    async def _deliver(self, due: DueWebhook, host: str) -> None:
        """Deliver to one until there is nothing more, or it fails."""
        webhook_id, is_crowded = due.webhook_id, partial(self._lanes.is_crowded, host)
        try:
            while True:
                self._again.discard(webhook_id)
                async with Receiver(due.url, self._settings, self._tls, self._names) as receiver:
                    reached = await Delivering(self._journal, receiver, due, self._settings.retry, is_crowded).run()
                if reached is None or is_crowded() or webhook_id not in self._again:
                    return
                due = replace(due, position=reached)
        except StoreError as error:
            log.warning("webhook_interrupted", webhook=webhook_id, error=str(error))

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Reading all certificates takes a while, so it is done once, and only where something is delivered."""
        return httpx2.create_ssl_context()

    async def _stop_delivering(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
