"""Everything that runs during the demonstration, started in order and stopped in the opposite one.

Rule: it goes through the public client wherever a user would. What no user does (killing, deleting) is done from
outside, as a crash or an accident would: by process id and by file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

from examples.demo.board import Board
from examples.demo.crew import Crew
from examples.demo.gates import Gates
from examples.demo.ledger import Ledger
from examples.demo.narrate import narrate
from examples.demo.place import Place
from examples.demo.screen import Screen
from examples.local_model import MODEL_NAME, LocalModelServer
from turnwright.client import Client, Session, Thread, Turn
from turnwright.journal.drivers import open_driver
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Message
from turnwright.worker.temporal_server import TemporalServer

SEEN_TIMEOUT_S = 90.0
TOLD_TIMEOUT_S = 2.0
WORKERS = 2
USER, SESSION = "you", "the shop"
DRIVERS = {"clerk": f"the real model ({MODEL_NAME})", "writer": f"the real model ({MODEL_NAME})", "desk": "a script"}


class Unseen(RuntimeError):
    """Something that should have happened in a turn did not."""


@dataclass
class Stage:
    """What scenes work with."""

    place: Place
    screen: Screen
    board: Board
    model: LocalModelServer
    temporal: TemporalServer
    client: Client
    crew: Crew
    _telling: set[asyncio.Task[None]] = field(default_factory=set)
    _told: dict[str, int] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        """The session that all turns belong to."""
        return self.client.session(USER, SESSION)

    @property
    def ledger(self) -> Ledger:
        """The ledger as it is in its file."""
        return Ledger(self.place.ledger_file)

    @property
    def gates(self) -> Gates:
        """Where tools can be held."""
        return Gates(self.place.gates)

    def thread(self, agent: str, name: str) -> Thread:
        """A thread of the session."""
        return self.session.thread(agent, name)

    async def submit(self, thread: Thread, message: str | Message) -> Turn:
        """Submit a turn and tell what it does from then on."""
        turn = await thread.submit(message)
        who = f"{thread.key.agent}/{thread.key.thread}"
        self.screen.tell(who, f"turn {turn.id[:10]} is submitted; {DRIVERS[thread.key.agent]} drives it", "")
        task = asyncio.create_task(self._tell(turn, who))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)
        return turn

    async def entry(
        self, turn: Turn, matches: Callable[[Entry], bool], *, after: int = 0, timeout_s: float = SEEN_TIMEOUT_S
    ) -> Entry:
        """The first entry of the turn that matches, as soon as it is committed."""
        with self.screen.waiting("watching the journal"):
            async with asyncio.timeout(timeout_s):
                async for entry in turn.events(after):
                    if matches(entry):
                        return entry
        raise Unseen(f"turn {turn.id} ended without what was waited for")

    async def answer(self, turn: Turn) -> str:
        """Wait for the turn's answer; its text."""
        with self.screen.waiting("waiting for the answer"):
            return (await turn.result(SEEN_TIMEOUT_S)).text

    async def until(self, holds: Callable[[], bool], what: str, timeout_s: float = SEEN_TIMEOUT_S) -> None:
        """Wait for something outside the journal."""
        with self.screen.waiting(f"waiting until {what}"):
            async with asyncio.timeout(timeout_s):
                while not holds():  # noqa: ASYNC110 - another process does it
                    await asyncio.sleep(0.01)

    async def full_crew(self) -> None:
        """Two workers: a killed one is replaced."""
        missing = WORKERS - self.crew.running
        if missing > 0:
            with self.screen.waiting("starting workers"):
                hired = await asyncio.gather(*(self.crew.hire() for _ in range(missing)))
            for worker in hired:
                self.screen.say(f"{worker.name} is there (process {worker.child.pid})")

    async def told(self, turn: Turn, entry: Entry) -> None:
        """Wait until the entry was told, so that the lines on the screen are in order."""
        with suppress(TimeoutError):
            await self.until(lambda: self._told.get(turn.id, 0) >= entry.seq, "it is told", TOLD_TIMEOUT_S)

    @property
    def pids(self) -> frozenset[int]:
        """Every process that was started and should be gone at the end."""
        others = {self.model.pid or 0, self.temporal.pid if self.temporal.is_running else 0}
        return self.crew.pids | (others - {0})

    async def hush(self) -> None:
        """Tell no more of turns that have not ended."""
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    async def _tell(self, turn: Turn, who: str) -> None:
        with suppress(Exception):  # it only tells; whoever waits for the turn learns of trouble
            async for entry in turn.events():
                if (line := narrate(entry, self.crew.called)) is not None:
                    self.screen.tell(who, line)
                self._told[turn.id] = entry.seq


@asynccontextmanager
async def set_up(place: Place, screen: Screen, board: Board) -> AsyncIterator[Stage]:
    """Model, Temporal, journal, client and two workers; all of them are gone afterwards."""
    async with AsyncExitStack() as stack:
        model = LocalModelServer()
        stack.callback(model.stop)
        await asyncio.to_thread(model.start)
        screen.say(f"the real model {MODEL_NAME} answers at {model.base_url} (process {model.pid})")
        temporal = TemporalServer(place.temporal_file, log_file=place.log_of("temporal"))
        await stack.enter_async_context(temporal)
        screen.say(
            f"Temporal answers at {temporal.address} (process {temporal.pid}), its data in {place.temporal_file.name}"
        )
        connecting = Client.connect(journal_url=place.journal_url, temporal_address=temporal.address, migrate=True)
        client = await stack.enter_async_context(connecting)
        driver = open_driver(place.journal_url)
        await driver.start()
        stack.push_async_callback(driver.stop)
        crew = Crew(place, temporal.address, model.base_url, driver)
        stack.callback(crew.kill_all)
        stage = Stage(place, screen, board, model, temporal, client, crew)
        stack.push_async_callback(stage.hush)
        await stage.full_crew()
        await stage.session.create(title="A small shop")
        yield stage
        await crew.dismiss()
