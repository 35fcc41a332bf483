"""A journal, a Temporal and workers, as a test sees them: it commands, wakes, kills and waits on conditions."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from tests.forked import Speaking, start_speaking
from tests.integration.runtime.agents import AGENTS
from tests.integration.runtime.scripts import Step, say, task
from tests.integration.runtime.workers import (
    CACHED,
    DEADLINE_S,
    SETTINGS,
    WORKFLOWS,
    LocalWorker,
    temporal_worker,
)
from turnwright.activities.agent import Agent
from turnwright.activities.models.port import Model
from turnwright.activities.registry import Registry
from turnwright.activities.runtime import Activities, ActivitySettings
from turnwright.activities.runtime.boundary import Boundary, pass_by
from turnwright.activities.runtime.surroundings import Surroundings
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.commands import (
    CancelTurn,
    ClientCommand,
    CreateSession,
    IfBusy,
    PauseTurn,
    Receipt,
    Reconcile,
    ResumeTurn,
    RetryTurn,
    SessionCommand,
    Steer,
    Submit,
)
from turnwright.journal.entries import Entry
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Message, user
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.turn_status import TurnStatus
from turnwright.workflows.ids import thread_workflow_id, turn_workflow_id
from turnwright.workflows.waking import WORKFLOW_TASK_TIMEOUT_S, Waker

T = TypeVar("T")
POLL_S = 0.1
NEVER_LAPSES_S = 3_600
_numbers = itertools.count(1)


@dataclass
class Turn:
    """A submitted turn."""

    cluster: "Cluster"
    key: ThreadKey
    turn_id: str
    receipt: Receipt = field(repr=False)

    @property
    def handle(self) -> WorkflowHandle[Any, Any]:
        """Its workflow, the newest run."""
        workflow_id = turn_workflow_id(self.cluster.journal_id, self.key, self.turn_id)
        return self.cluster.client.get_workflow_handle(workflow_id)

    async def status(self) -> TurnStatus:
        status = await self.cluster.journal.turn(self.key, self.turn_id)
        assert status is not None
        return status

    async def entries(self) -> list[Entry]:
        return [entry for entry in await self.cluster.entries(self.key) if entry.turn_id == self.turn_id]

    async def types(self) -> list[str]:
        return [entry.type for entry in await self.entries()]

    async def of_type(self, name: str) -> list[Entry]:
        return [entry for entry in await self.entries() if entry.type == name]

    async def until(self, phase: str, *, nudging: bool = False) -> TurnStatus:
        """Wait until the turn is in that phase; an end it did not expect is an error at once."""

        async def reached() -> TurnStatus | None:
            status = await self.status()
            assert phase == status.phase or not status.finished, status
            return status if status.phase == phase else None

        return await self.cluster.until(reached, self.key if nudging else None)

    async def until_pause(self, pause: str) -> TurnStatus:
        async def reached() -> TurnStatus | None:
            status = await self.status()
            return status if status.pause == pause else None

        return await self.cluster.until(reached)

    async def until_entry(self, name: str, count: int = 1, *, nudging: bool = False) -> list[Entry]:
        async def reached() -> list[Entry] | None:
            found = await self.of_type(name)
            return found if len(found) >= count else None

        return await self.cluster.until(reached, self.key if nudging else None)

    async def until_parked(self) -> None:
        """Wait until no run of its workflow is open."""
        await self.cluster.until_closed(self.handle)

    async def command(self, kind: type[ClientCommand], *, wake: bool = True, **given: object) -> Receipt:
        command = kind(request_id=f"r{next(_numbers)}", turn_id=self.turn_id, **given)  # type: ignore[arg-type, call-arg]
        return await self.cluster.execute(self.key, command, wake=wake)

    async def pause(self, *, wake: bool = True) -> Receipt:
        return await self.command(PauseTurn, wake=wake)

    async def resume(self, *, wake: bool = True) -> Receipt:
        return await self.command(ResumeTurn, revision=(await self.status()).revision, wake=wake)

    async def cancel(self, *, wake: bool = True) -> Receipt:
        return await self.command(CancelTurn, wake=wake)

    async def retry(self, *, wake: bool = True) -> Receipt:
        return await self.command(RetryTurn, wake=wake)

    async def steer(self, text: str, *, wake: bool = True) -> Receipt:
        return await self.command(Steer, message=user(text), wake=wake)

    async def reconcile(self, call_id: str, outcome: str) -> Receipt:
        return await self.command(Reconcile, call_id=call_id, outcome=outcome, reason="I looked")


class Cluster:
    """Everything of one test."""

    def __init__(self, journal_url: str, address: str, client: Client, journal: Journal, journal_id: str) -> None:
        self.journal_url = journal_url
        self.address = address
        self.client = client
        self.journal = journal
        self.journal_id = journal_id
        self.queue = journal_id
        self.waker = Waker(client, journal_id, self.queue)
        self.task_timeout_s = WORKFLOW_TASK_TIMEOUT_S
        self._stack = AsyncExitStack()

    @classmethod
    @asynccontextmanager
    async def open(cls, journal_url: str, address: str, identity: str = "tests") -> "AsyncIterator[Cluster]":
        client = await Client.connect(address, identity=identity)
        journal = await Journal.open(journal_url, migrate=True)
        cluster = cls(journal_url, address, client, journal, await journal.journal_id())
        try:
            async with cluster._stack:
                yield cluster
        finally:
            await journal.close()

    # -- workers -------------------------------------------------------------------------------------

    async def start_worker(
        self,
        *,
        agents: Sequence[Agent] = AGENTS,
        settings: ActivitySettings = SETTINGS,
        tools: ToolHost | None = None,
        models: Model | None = None,
        boundary: Boundary = pass_by,
        cached: int = CACHED,
        once_silence_s: float = 20.0,
        workflows: Sequence[type] = WORKFLOWS,
    ) -> LocalWorker:
        """Start a worker in this process; it ends with the test."""
        name = f"worker-{next(_numbers)}"
        client = await Client.connect(self.address, identity=name)  # two workers of a queue never share one
        terms = Terms(presence=name, once_silence_s=once_silence_s)
        journal = await Journal.open(self.journal_url, terms=terms)
        self._stack.push_async_callback(journal.close)
        hold = await journal.driver.hold_presence(name, {}, lease_s=NEVER_LAPSES_S)
        waker = Waker(client, self.journal_id, self.queue, self.task_timeout_s)
        made = Activities(
            journal,
            waker,
            Registry(agents),
            lambda: "" if hold.lost else name,
            settings,
            models=models,
            tools=tools,
            around=Surroundings(boundary),
        )
        await made.start()
        self._stack.push_async_callback(made.stop)
        running = temporal_worker(client, self.queue, made, name, cached, workflows, settings.drain_s)
        worker = await self._stack.enter_async_context(running)
        return LocalWorker(name, journal, made, hold, worker)

    async def spawn_worker(
        self, *, lease_s: float = 30.0, agents: str = "tests.integration.runtime.agents:AGENTS"
    ) -> Speaking:
        """Start a worker in a process of its own; it is killed with the test at the latest."""
        given = {
            "journal_url": self.journal_url,
            "address": self.address,
            "queue": self.queue,
            "presence": f"other-{next(_numbers)}",
            "lease_s": lease_s,
            "agents": agents,
            "task_timeout_s": self.task_timeout_s,
        }
        worker = await start_speaking("tests.integration.runtime.worker_process", [json.dumps(given)])
        self._stack.callback(worker.end)
        assert await worker.line() == "ready"
        return worker

    # -- commands ------------------------------------------------------------------------------------

    async def session(self, name: str = "s") -> SessionKey:
        key = SessionKey("t", None, name)
        receipt = await self.journal.execute(key, CreateSession(request_id=f"r{next(_numbers)}"))
        assert receipt.status == "accepted"
        return key

    async def execute(
        self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand, *, wake: bool = True
    ) -> Receipt:
        """Commit a command and, as a client does, wake whom it concerns."""
        receipt = await self.journal.execute(key, command)
        if wake:
            await (self.waker.thread(key) if isinstance(key, ThreadKey) else self.waker.session(key))
        return receipt

    async def submit(
        self,
        *steps: Step,
        agent: str = "bot",
        thread: str = "main",
        message: Message | None = None,
        if_busy: IfBusy = "enqueue",
        wake: bool = True,
        on_failure: OnFailure | None = None,
    ) -> Turn:
        """Submit a turn to session `s`, which exists after the first."""
        if await self.journal.session(SessionKey("t", None, "s")) is None:
            await self.session()
        key, request = ThreadKey("t", None, agent, "s", thread), f"r{next(_numbers)}"
        made = turn_id(key, request)
        given = message or task(*(steps or (say("hello"),)))
        command = Submit(request_id=request, turn_id=made, input=given, if_busy=if_busy, on_failure=on_failure)
        return Turn(self, key, made, await self.execute(key, command, wake=wake))

    # -- looking -------------------------------------------------------------------------------------

    async def entries(self, key: ThreadKey) -> list[Entry]:
        found: list[Entry] = []
        while page := await self.journal.entries(key, len(found)):
            found += page
        return found

    async def until(self, condition: Callable[[], Awaitable[T | None]], nudged: ThreadKey | None = None) -> T:
        """Wait until the condition gives something true, looking at each commit; `nudged` is woken meanwhile."""
        async with asyncio.timeout(DEADLINE_S), self.journal.watch() as watch:
            while True:
                if found := await condition():
                    return found
                if nudged is not None:
                    await self.waker.thread(nudged)
                await watch.changed(POLL_S)

    async def until_trace(self, file: Path, wanted: str, count: int = 1) -> None:
        """Wait until a tool left that trace."""

        async def reached() -> bool:
            return file.exists() and file.read_text().count(wanted) >= count

        await self.until(reached)

    async def until_started(self, turn: Turn) -> None:
        """Wait until a workflow of the turn was started."""

        async def reached() -> bool:
            try:
                await turn.handle.describe()
            except RPCError:
                return False
            return True

        await self.until(reached)

    def thread_handle(self, key: ThreadKey) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(thread_workflow_id(self.journal_id, key))

    async def until_closed(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Wait until no run of a workflow is open."""

        async def reached() -> bool:
            return (await handle.describe()).close_time is not None

        await self.until(reached)

    async def until_idle(self, key: ThreadKey) -> None:
        """Wait until a thread's workflow has nothing more to look for."""
        await self.until_closed(self.thread_handle(key))
