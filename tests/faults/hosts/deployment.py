"""A journal of its own for each test, whose workers, gateway and readers are on hosts of their own.

    worker = await deployment.start_worker("first")
    deployment.cut("first", "database")
    await deployment.until_taken_over(turn, worker)
    deployment.network.heal()

Rule: the test gives its commands and looks at the journal from outside the network, so what it sees is what is so,
whoever is cut off from whom.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from tests.faults.harness.ending import ENDS, ONCE
from tests.faults.harness.scripts import say
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import PROGRAM, World
from tests.faults.hosts.network import CUT, Network
from tests.forked import start
from turnwright.client import Turn
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Entry
from turnwright.journal.store_verify import rebuild

HOSTS = ("database", "temporal", "first", "second", "gateway", "reader")
GATEWAY_PORT = 8420
SHORT = {"lease_s": 2.0, "once_grace_s": 1.0}
"""For who would else wait long until a worker that is not heard counts as gone."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Deployment:
    """One test's. `reached` is the journal by the network; logs are in `folder`."""

    network: Network
    world: World
    reached: str
    folder: Path

    # -- processes -------------------------------------------------------------------------------------

    async def start_worker(self, host: str, settings: Mapping[str, object] = SHORT) -> Worker:
        """One on that host, which takes work."""
        worker = self.prepare_worker(host, settings)
        await self.world.let_work(worker)
        return worker

    def prepare_worker(self, host: str, settings: Mapping[str, object] = SHORT) -> Worker:
        """One on that host that has loaded its code; see `World.let_work`."""
        namespace = self.network[host].namespace
        return self.world.prepare_worker(url=self.reached, settings=settings, namespace=namespace)

    async def start_gateway(self) -> str:
        """The URL of one on its host, which takes requests."""
        host, settings = self.network["gateway"], {"log_format": "json", "task_queue": self.world.queue}
        where = {"journal_url": self.reached, "temporal_address": self.world.temporal.address}
        environment = self.world.environment("", {**settings, **where})
        arguments = ["gateway", "--host", host.address, "--port", str(GATEWAY_PORT)]
        await self._start("gateway", PROGRAM, arguments, environment).until_logged("gateway_listening")
        return f"http://{host.address}:{GATEWAY_PORT}"

    def start_reader(self, gateway_url: str, token: str, folder: Path) -> None:
        """See `tests.faults.hosts.reader`."""
        arguments = [gateway_url, token, str(folder)]
        self._start("reader", "tests.faults.hosts.reader", arguments, self.world.environment("", {}))

    def _start(self, host: str, module: str, arguments: list[str], environment: dict[str, str]) -> Worker:
        """A process on that host, which ends with the test."""
        log_file = self.folder / f"{host}.log"
        child = start(module, arguments, environment, log_file, namespace=self.network[host].namespace)
        process = Worker(host, child, log_file)
        self.world.workers.append(process)
        return process

    def cut(self, one: str, *others: str) -> None:
        """Nothing comes through between this and these any more, and nobody is told."""
        for other in others:
            self.network.impair(self.network[one], self.network[other], CUT)

    def deafen(self, deaf: str, to: str) -> None:
        """What this one sends comes there still, and no answer comes back."""
        self.network.impair(self.network[to], self.network[deaf], CUT, back=False)

    # -- looking -------------------------------------------------------------------------------------

    async def until_taken_over(self, turn: Turn, silent: Worker) -> None:
        """Wait until another worker begins something of the turn; how long that took is logged."""
        since_s, theirs = time.time(), {line["presence"] for line in silent.logged("presence_held")}

        async def reached() -> Entry | None:
            entries = [entry for entry in await self.world.entries(turn.key) if entry.turn_id == turn.id]
            begun = (entry for entry in entries if getattr(entry.payload, "presence", None) not in (None, *theirs))
            return next(begun, None)

        found = await self.world.until(reached)
        took_s = round(found.at_us / SECOND_US - since_s, 2)
        log.info("taken_over", after_s=took_s)

    async def until_lost(self, one: str, other: str) -> None:
        """Wait until a packet from one to the other has vanished."""

        async def reached() -> bool:
            return self.network.lost(self.network[one], self.network[other]) > 0

        await self.world.until(reached)

    async def timeline(self) -> list[tuple[int, str]]:
        """Position and id of all that has happened in the session."""
        found: list[tuple[int, str]] = []
        while page := await self.world.session.history(len(found)):
            found += [(located.entry.position, located.entry.entry_id) for located in page]
        return found

    async def assert_takes_new_work(self, worker: Worker, without: Worker) -> None:
        """This one alone carries a turn to its end, when the other is gone."""
        without.kill()
        turn = await self.world.submit(say("hello"), thread=f"of {worker.name}")
        await self.world.until_status(turn, "completed")

    async def assert_nothing_was_lost_or_doubled(self, *turns: Turn) -> None:
        """Each turn ended once, each effect was had, once where it must be, and what is derived is as made anew."""
        for turn in turns:
            assert (await turn.status()).phase == "completed"
            types = Counter(await self.world.types(turn))
            assert sum(types[end] for end in ENDS) == 1, types
            await self.world.transcript(turn.key.thread)
        for tool in ONCE:
            effects = Counter(self.world.ledger.keys("effect", tool))
            assert not {key: count for key, count in effects.items() if count > 1}, "a once effect happened twice"
        assert [rebuilt async for rebuilt in rebuild(self.world.journal) if rebuilt.kept] == []
