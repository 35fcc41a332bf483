"""What every attempt of an operation shares: its thread, its claim, and how its report is committed.

Rule: after a claim there is always testimony, whatever happened in between. An attempt that Temporal
no longer waits for wakes its thread, since nobody else would learn of its end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from turnwright.activities.models.port import Model
from turnwright.activities.registry import Registry
from turnwright.activities.runtime.persist import persist
from turnwright.activities.runtime.settings import ActivitySettings
from turnwright.activities.runtime.watcher import Watched, Watcher
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import RunCommand, Testimony
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Outcome
from turnwright.workflows.payloads import Next, StepInput, next_of
from turnwright.workflows.waking import Waker

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a worker's activities work with."""

    journal: Journal
    waker: Waker
    registry: Registry
    models: Model
    tools: ToolHost
    watcher: Watcher
    presence: Callable[[], str]
    settings: ActivitySettings


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of an operation, from claim to report."""

    parts: Parts
    given: StepInput
    key: ThreadKey
    run_id: str
    nonce: str
    presence: str

    @classmethod
    def begin(cls, parts: Parts, given: StepInput) -> Attempt:
        """The attempt this Temporal activity attempt stands for."""
        info = activity.info()
        run_id = info.workflow_run_id or ""
        nonce = f"{run_id}/{info.activity_id}/{info.attempt}"
        key = ThreadKey.parse(given.thread)
        structlog.contextvars.bind_contextvars(thread=given.thread, turn=given.turn, run=run_id, step=given.step)
        return cls(parts, given, key, run_id, nonce, parts.presence())

    async def commit(self, command: RunCommand) -> Outcome:
        """Commit a claim or report, waiting for the store if need be."""
        return await persist(lambda: self.parts.journal.run(self.key, command))

    async def report(self, testimony: Testimony) -> Next:
        """Commit what happened and say what is next; wake the thread if nobody waits for this attempt."""
        outcome = await self.commit(testimony)
        if outcome.control.epoch != self.given.epoch or activity.is_cancelled():
            await self.wake()
        if outcome.checkpoint_due:
            state = await self.parts.journal.state(self.key)
            await persist(lambda: self.parts.journal.checkpoint(self.key, state))
        return self.next_of(outcome)

    def next_of(self, outcome: Outcome) -> Next:
        """The outcome's action as it crosses Temporal."""
        return next_of(outcome.action, outcome.control.seq)

    async def wake(self) -> None:
        """Wake the thread; when Temporal is away the sweeper does it later."""
        await quietly(self.parts.waker.thread(self.key))

    async def state(self) -> AgentState:
        """The agent's state now."""
        return await persist(lambda: self.parts.journal.state(self.key))

    def watched(self, outcome: Outcome, ordinal: int) -> Watched:
        """This attempt as the watcher follows it."""
        given = self.given
        return Watched(self.key, outcome.thread_id, given.turn, given.step, ordinal, given.call, outcome.control.seq)

    def agent_unknown(self) -> ApplicationError:
        """Give the activity back, for a worker that knows the agent."""
        return agent_unknown(self.key.agent, self.parts.settings.agent_unknown_retry_s)

    async def media(self, state: AgentState) -> Mapping[str, bytes]:
        """The bytes of the media in the context."""
        wanted = {
            block.blob
            for message in state.context
            for block in (*message.blocks, *(b for r in message.results for b in r.output))
            if block.type == "media" and block.blob is not None
        }
        return await persist(lambda: self.parts.journal.blobs(self.key.session_key, wanted))


def agent_unknown(agent: str, retry_s: float) -> ApplicationError:
    """Gives an activity back to the queue because this worker does not know the agent."""
    return ApplicationError(
        f"this worker does not know agent {agent!r}",
        type="AgentUnknown",
        next_retry_delay=timedelta(seconds=retry_s),
    )


async def quietly(waking: Awaitable[None]) -> None:
    """Wake somebody; a wake-up that is lost costs latency only."""
    try:
        await waking
    except RPCError as error:
        log.warning("wake_lost", error=str(error))
