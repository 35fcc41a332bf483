"""Workers that are hurt and replaced: two always work, and one more waits to begin.

Rule: whoever dies or freezes, of our hand or of its own fault, is replaced or goes on after a while. A journal on a
server is reached by several ways, each of which can be cut for a while.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from tests.faults.harness.proxy import Proxy, open_proxy
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import POLL_S, World

SIZE = 2
WAYS = 3
FROZEN_S = 2.0


class Crew:
    """The workers of one run."""

    def __init__(self, world: World, settings: Mapping[str, object], ways: list[Proxy]) -> None:
        self._world = world
        self._settings = settings
        self._ways = ways
        self._urls = itertools.cycle([way.url for way in ways] or [""])
        self._cuts: dict[Proxy, asyncio.Task[None]] = {}
        self._working: list[Worker] = []
        self._spare = self._prepare("")
        self._frozen: dict[Worker, asyncio.Task[None]] = {}

    @classmethod
    @asynccontextmanager
    async def at_work(cls, world: World, settings: Mapping[str, object], fault: str) -> "AsyncIterator[Crew]":
        """A sound one works, and others come a moment later, of which the first suffers `fault`."""
        async with AsyncExitStack() as stack:
            server = world.journal_url.startswith("postgres")
            opened = [open_proxy(world.journal_url) for _ in range(WAYS if server else 0)]
            crew = cls(world, settings, [await stack.enter_async_context(way) for way in opened])
            sound = crew._prepare("")
            await world.let_work(sound)
            crew._working.append(sound)
            crew.tend(fault)
            watching = asyncio.create_task(crew._watch())
            try:
                yield crew
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
                await crew.let_go_on()

    def kill(self, which: int, fault: str) -> None:
        """As `kill -9` does; the replacement comes at once, and suffers `fault`."""
        self._pick(which).kill()
        self.tend(fault)

    def terminate(self, which: int, fault: str) -> None:
        """As a deployment does: the replacement comes while the other one leaves."""
        leaving = self._pick(which)
        self._working.remove(leaving)
        leaving.terminate()
        self.tend(fault)

    def freeze(self, which: int, for_s: float) -> None:
        """Stop one for a while, in the middle of whatever it does."""
        worker = self._pick(which)
        if worker not in self._frozen:
            worker.freeze()
            self._let_go_on(worker, for_s)

    def cut(self, which: int, for_s: float, *, silent: bool) -> None:
        """Break a way to the server for a while: connections end, or nothing comes through any more."""
        if self._ways:
            way = self._ways[which % WAYS]
            if way not in self._cuts or self._cuts[way].done():
                self._cuts[way] = asyncio.create_task(_break(way, for_s, silent=silent))

    def tend(self, fault: str = "") -> None:
        """Replace whoever died."""
        self._working = [worker for worker in self._working if worker.is_running]
        while len(self._working) < SIZE:
            fresh, fault = self._fresh(fault), ""
            self._world.ledger.open(fresh.name)
            self._working.append(fresh)

    async def let_go_on(self) -> None:
        """Thaw everybody now, and wait until every way to the server is whole."""
        thawing = list(self._frozen.items())
        for worker, task in thawing:
            task.cancel()
            self._go_on(worker)
        await asyncio.gather(*(task for _, task in thawing), return_exceptions=True)
        await asyncio.gather(*self._cuts.values())

    def _pick(self, which: int) -> Worker:
        self.tend()
        return self._working[which % SIZE]

    def _fresh(self, fault: str) -> Worker:
        """One whose fault begins with its first work, so it is prepared for that; a sound one is there already."""
        if fault:
            return self._prepare(fault)
        fresh, self._spare = self._spare, self._prepare("")
        return fresh

    def _prepare(self, fault: str) -> Worker:
        """On a journal that is a file nothing can be dropped; an error is the next to that."""
        kind, at, place = fault.partition("@")
        if kind in ("drop", "deafen") and not self._ways:
            fault = f"raise{at}{place}"
        return self._world.prepare_worker(fault=fault, settings=self._settings, url=next(self._urls))

    async def _watch(self) -> None:
        """See who froze by itself; beside everything else, since it may hold the lock that the next command wants."""
        while True:
            for worker in self._world.workers:
                if worker.is_running and worker not in self._frozen and worker.is_frozen:
                    self._let_go_on(worker, FROZEN_S)
            await asyncio.sleep(POLL_S)

    def _let_go_on(self, worker: Worker, after_s: float) -> None:
        self._frozen[worker] = asyncio.create_task(self._thaw_after(worker, after_s))

    async def _thaw_after(self, worker: Worker, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._go_on(worker)

    def _go_on(self, worker: Worker) -> None:
        del self._frozen[worker]
        if worker.is_running:
            worker.thaw()


async def _break(way: Proxy, seconds: float, *, silent: bool) -> None:
    await (way.silence() if silent else way.cut())
    await asyncio.sleep(seconds)
    await way.mend()
