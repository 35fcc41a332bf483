"""Everything a fault test needs: a journal, a real Temporal, workers to hurt, a client, and the outside's ledger.

    async with World.open(journal_url, tmp_path, temporal) as world:
        victim = await world.start_worker(fault="kill@tool:ran:1")
        turn = await world.submit(call("post"), say("{result}"))
        await victim.until_ended()
        await world.start_worker()
        await world.until_status(turn, "waiting")

Rule: tests wait on conditions with one deadline for all, and on no clock. Whatever a test did, its journal is
verified at its end.
"""

import asyncio
import contextlib
import itertools
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack
from urllib.parse import urlsplit

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client as EngineClient
from temporalio.service import RPCError

from tests.faults.harness.ledger import FOLDER_VARIABLE, START_GATE_VARIABLE, Ledger
from tests.faults.harness.scripts import Step, task
from tests.faults.harness.transcript import Transcript, transcript_of
from tests.faults.harness.verify import assert_whole
from tests.faults.harness.worker import DEADLINE_S, Given, Worker
from tests.forked import start
from turnwright.client import Client, ClientSettings, Session, Thread, Turn, TurnView
from turnwright.journal.entries import Entry
from turnwright.journal.ids import ThreadKey
from turnwright.journal.shown import ShownStatus
from turnwright.journal.store import Journal
from turnwright.journal.transact.enlisting import find_inbox
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import turn_workflow_id
from turnwright.workflows.waking import Waker

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
PYTHONPATH = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
AGENTS = "tests.faults.agents:registry"
PROGRAM = "turnwright.worker.main"
POLL_S = 0.1
LEDGER_POLL_S = 0.02
QUICK = {
    "sweep_interval_s": 0.25,
    "stall_s": 1,
    "sticky_timeout_s": 1,
    "workflow_task_timeout_s": 2,
    "log_format": "json",
}
NONE: Mapping[str, str] = {}
PRODUCTION: Mapping[str, object] = {}
"""Every worker is as in production, but impatient; its leases are production's unless a test gives others."""


class World:
    """One test's."""

    def __init__(self, journal_url: str, folder: Path, temporal: TemporalServer) -> None:
        self.journal_url = journal_url
        self.temporal = temporal
        self.ledger = Ledger(folder)
        self.workers: list[Worker] = []
        self.journal: Journal
        self.client: Client
        self.muted: Client  # a client whose wake-ups are all lost
        self.queue = ""
        self._folder = folder
        self._engine_client: EngineClient | None = None
        self._numbers = itertools.count(1)

    @classmethod
    @asynccontextmanager
    async def open(cls, journal_url: str, folder: Path, temporal: TemporalServer) -> "AsyncIterator[World]":
        """An empty journal with the session `s`, no worker yet."""
        world = cls(journal_url, folder, temporal)
        world.journal = await Journal.open(journal_url, migrate=True)
        world.queue = f"faults-{await world.journal.journal_id()}"
        settings = ClientSettings(journal_url=journal_url, task_queue=world.queue, temporal_address=temporal.address)
        async with (
            Client.connect(settings) as world.client,
            Client.connect(replace(settings, wake=False)) as world.muted,
        ):
            await world.session.create()
            try:
                yield world
                await assert_whole(world.journal)
            finally:
                for worker in world.workers:
                    worker.kill()
                await world.journal.close()

    @property
    def file(self) -> Path:
        """The journal's, on SQLite."""
        return Path(urlsplit(self.journal_url).path.removeprefix("/"))

    # -- workers -------------------------------------------------------------------------------------

    async def start_worker(self, **given: Unpack[Given]) -> Worker:
        """Start a worker (see `prepare_worker`), and wait until it takes work."""
        worker = self.prepare_worker(**given)
        await self.let_work(worker)
        return worker

    def prepare_worker(
        self,
        *,
        fault: str = "",
        settings: Mapping[str, object] = PRODUCTION,
        module: str = PROGRAM,
        url: str = "",
        build: Path | None = None,
        surroundings: Mapping[str, str] = NONE,
        namespace: str = "",
    ) -> Worker:
        """A worker process that has loaded its code and connects to nothing before `let_work`.

        Args:
            fault: what it is to suffer, as in `turnwright.worker.faults`.
            settings: what is not as for every worker.
            module: the program.
            url: its own way to the journal.
            build: where its code is, if not here (`tests.faults.harness.build`).
            surroundings: variables of its environment that are no settings of ours.
            namespace: the file of the network that it is on, if not this one.
        """
        name = f"worker-{len(self.workers) + 1}"
        given = {
            **QUICK,
            "journal_url": url or self.journal_url,
            "temporal_address": self.temporal.address,
            "task_queue": self.queue,
            "fault": f"file:{self._folder / name}.fault",
            **settings,
        }
        environment = self.environment(name, given) | dict(surroundings)
        if build is not None:
            environment["PYTHONPATH"] = os.pathsep.join((str(build), PYTHONPATH))
        arguments, log_file = ["worker", "--agents", AGENTS], self._folder / f"{name}.log"
        if surroundings or build is not None:
            child = Child([sys.executable, "-m", module, *arguments], env=environment, log_file=log_file)
            worker = Worker(name, child, log_file)
        else:
            worker = Worker(name, start(module, arguments, environment, log_file, namespace=namespace), log_file)
        worker.arm(fault)
        self.workers.append(worker)
        return worker

    def environment(self, gate: str, settings: Mapping[str, object] = QUICK) -> dict[str, str]:
        """Of a process of this world, which has these settings and none of the surroundings'."""
        found = {k: v for k, v in os.environ.items() if not k.startswith(("TURNWRIGHT_", "TEMPORAL_"))}
        found |= {f"TURNWRIGHT_{key.upper()}": str(value) for key, value in settings.items()}
        return found | {FOLDER_VARIABLE: str(self._folder), START_GATE_VARIABLE: gate, "PYTHONPATH": PYTHONPATH}

    async def let_work(self, worker: Worker) -> None:
        """Let a prepared worker begin, and wait until it takes work."""
        self.ledger.open(worker.name)
        await worker.until_ready()

    # -- commands ------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        return self.client.session(None, "s")

    def thread(self, name: str = "main", agent: str = "bot") -> Thread:
        return self.session.thread(agent, name)

    async def submit(self, *steps: Step, thread: str = "main", request_id: str = "", agent: str = "bot") -> Turn:
        """A turn that plays these steps."""
        request_id = request_id or f"r{next(self._numbers)}"
        return await self.thread(thread, agent).submit(task(*steps), request_id=request_id)

    async def settle_by_the_ledger(self, turn: Turn, call_id: str) -> None:
        """Be the person who is asked what became of a call, and look."""
        happened = any(key.endswith(f"/{call_id}") for key in self.ledger.keys("effect", "", turn.id))
        if happened:
            await turn.reconcile(call_id, "succeeded", "post done", reason="it is in the ledger")
        else:
            await turn.reconcile(call_id, "run_again", reason="it is not in the ledger")

    # -- looking -------------------------------------------------------------------------------------

    async def until(self, holds: Callable[[], Awaitable[T | None]], deadline_s: float = DEADLINE_S) -> T:
        """Wait until the condition gives something true, looking at each commit."""
        async with asyncio.timeout(deadline_s), self.journal.watch() as watch:
            while not (found := await holds()):
                await watch.changed(POLL_S)
            return found

    async def until_status(self, turn: Turn, *wanted: ShownStatus, deadline_s: float = DEADLINE_S) -> TurnView:
        """Wait until the turn is shown so; an end that nobody wanted is an error at once."""

        async def reached() -> TurnView | None:
            view = await turn.status()
            assert view.status in wanted or not view.finished, view
            return view if view.status in wanted else None

        return await self.until(reached, deadline_s)

    async def until_entry(self, key: ThreadKey, kind: str, count: int = 1) -> list[Entry]:
        """Wait until the thread has that many entries of the type."""

        async def reached() -> list[Entry] | None:
            found = [entry for entry in await self.entries(key) if entry.type == kind]
            return found if len(found) >= count else None

        return await self.until(reached)

    async def until_ledger(self, what: str, tool: str, count: int = 1) -> None:
        """Wait until the outside saw it, whether there is a journal to look at or not."""
        async with asyncio.timeout(DEADLINE_S):
            while len(self.ledger.keys(what, tool)) < count:
                await asyncio.sleep(LEDGER_POLL_S)

    async def until_given_up(self, key: ThreadKey, silence_s: float) -> None:
        """Look at the thread, as any process may, until what a silent worker had claimed there counts as lost."""
        self.journal.terms = Terms(once_silence_s=silence_s)

        async def reached() -> bool:
            await self.journal.dispatch(key)
            row = await self.journal.thread(key)
            return row is not None and row.control.active is not None and not row.control.active.busy

        await self.until(reached)

    async def entries(self, key: ThreadKey) -> list[Entry]:
        found: list[Entry] = []
        while page := await self.journal.entries(key, len(found)):
            found += page
        return found

    async def types(self, turn: Turn) -> list[str]:
        """The types of a turn's entries."""
        return [entry.type for entry in await self.entries(turn.key) if entry.turn_id == turn.id]

    async def transcript(self, thread: str = "main", agent: str = "bot") -> Transcript:
        """The conversation as every model sees it, without what two equal runs differ in."""
        return transcript_of(await self.thread(thread, agent).state())

    async def until_taken_in(self) -> None:
        """Wait until threads have heard all that others, and applications, had to tell them."""

        async def reached() -> bool:
            return not (await self.journal.driver.read(partial(find_inbox, 0, 1))).places

        await self.until(reached)

    # -- Temporal ------------------------------------------------------------------------------------

    async def open_workflows(self) -> list[str]:
        """Ids of the workflows that run for this journal."""
        prefix = f"tw/{await self.journal.journal_id()}/"
        open_ones = f"ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '{prefix}'"
        return [found.id async for found in (await self._engine()).list_workflows(open_ones)]

    async def runs_of(self, turn: Turn) -> set[str]:
        """The runs that Temporal ever began for the turn."""
        workflow_id = turn_workflow_id(await self.journal.journal_id(), turn.key, turn.id)
        runs = (await self._engine()).list_workflows(f"WorkflowId = '{workflow_id}'")
        return {found.run_id async for found in runs}

    async def _engine(self) -> EngineClient:
        """A client of Temporal, the same for every look."""
        if self._engine_client is None:
            self._engine_client = await self.temporal.connect()
        return self._engine_client

    async def until_no_workflow(self) -> None:
        """Wait until nothing of this journal runs in Temporal."""

        async def reached() -> bool:
            return not await self.open_workflows()

        await self.until(reached)

    async def terminate_workflow(self, turn: Turn) -> None:
        """As an operator may do in Temporal's own tools."""
        workflow_id = turn_workflow_id(await self.journal.journal_id(), turn.key, turn.id)
        await (await self._engine()).get_workflow_handle(workflow_id).terminate()

    async def end_what_waits_for_the_dead(self) -> None:
        """Terminate workflows with a call in the hands of a dead worker; Temporal takes 20 s to see that it is dead."""
        client = await self._engine()
        dead = {f"worker {worker.pid}" for worker in self.workers if not worker.is_running}
        for workflow_id in await self.open_workflows():
            handle = client.get_workflow_handle(workflow_id)
            calls = (await handle.describe()).raw_description.pending_activities
            held = (call for call in calls if call.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED)
            if any(call.last_worker_identity in dead for call in held):
                with contextlib.suppress(RPCError):  # it has ended just now
                    await handle.terminate()

    async def wake_as(self, journal_id: str, turn: Turn) -> None:
        """Wake the turn's thread as if the journal had this id."""
        await Waker(await self._engine(), journal_id, self.queue).thread(turn.key)

    def logged(self, event: str) -> list[dict[str, Any]]:
        """What any worker logged about that."""
        return [line for worker in self.workers for line in worker.logged(event)]
