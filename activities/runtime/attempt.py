"""What every attempt of an operation shares: its thread, its claim, and how its report is committed.

Rule: after a claim there is always testimony, whatever happened in between. An attempt that Temporal may
not wait for any more wakes its thread, since nobody else would learn of its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from turnwright.activities.runtime.committing import commit
from turnwright.activities.runtime.parts import Parts
from turnwright.activities.runtime.persist import persist, quietly
from turnwright.activities.runtime.pulse import Pulse
from turnwright.activities.runtime.stop import Stop
from turnwright.activities.runtime.watcher import Watched
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import Look, RunCommand, Testimony
from turnwright.journal.errors import JournalError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.runs import ThreadGone
from turnwright.journal.transact.thread_script import Outcome
from turnwright.workflows.payloads import Next, StepInput, next_of

log = structlog.get_logger(__name__)


class Named(TypedDict):
    """A step, and the run that is to do it."""

    turn_id: str
    run: str
    epoch: int
    step: int


@dataclass(slots=True)
class Attempt:
    """One attempt of an operation, from claim to report.

    `lost` is what is reported of an attempt that claimed and then broke before its report.
    """

    parts: Parts
    given: StepInput
    key: ThreadKey
    run_id: str
    nonce: str
    presence: str
    stop: Stop
    pulse: Pulse
    lost: Testimony | None = None

    @classmethod
    async def begin(cls, parts: Parts, given: StepInput, stop: Stop, pulse: Pulse) -> Attempt:
        """The attempt this Temporal activity attempt stands for.

        Raises:
            ApplicationError: this process has no presence at the moment, so it gives the activity back.
            ThreadGone: the turn is not in the journal (any more).
        """
        info = activity.info()
        run_id = info.workflow_run_id or ""
        key = await persist(lambda: parts.places.thread_of(given.turn))
        structlog.contextvars.bind_contextvars(thread=key.canonical, turn=given.turn, run=run_id, step=given.step)
        presence = parts.presence()
        if not presence:
            raise given_back("PresenceLost", "others would take this process for dead", parts.settings.give_back_s)
        return cls(parts, given, key, run_id, f"{run_id}/{info.activity_id}/{info.attempt}", presence, stop, pulse)

    @property
    def named(self) -> Named:
        """How its claim and its testimony name what they are about."""
        given = self.given
        return {"turn_id": given.turn, "run": self.run_id, "epoch": given.epoch, "step": given.step}

    async def commit(self, command: RunCommand) -> Outcome:
        """Commit something, waiting for the store if need be."""
        return await persist(lambda: commit(self.parts, self.key, command))

    async def look(self) -> Outcome:
        """Record what has become due, and see where the turn stands."""
        return await self.commit(Look(turn_id=self.given.turn, run=self.run_id, epoch=self.given.epoch))

    async def report(self, testimony: Testimony, otherwise: Testimony) -> Next:
        """Commit what happened and say what is next; wake the thread if nobody may wait for this attempt.

        `otherwise` is what is committed when the journal cannot hold `testimony`, whatever it is that breaks over it:
        with no report the attempt would be made again, and again.
        """
        try:
            outcome = await self._testify(testimony)
        except JournalError:
            raise
        except Exception:
            log.exception("report_not_storable", what=type(testimony).__name__)
            outcome = await self._testify(otherwise)
        self.lost = None
        if outcome.control.epoch != self.given.epoch or self.pulse.lost:
            await quietly(self.parts.waker.thread(self.key))
        if outcome.checkpoint_due:
            await self._checkpoint()
        return self.next_of(outcome)

    def next_of(self, outcome: Outcome) -> Next:
        """The outcome's action as it crosses Temporal."""
        return next_of(outcome.action, outcome.control.seq)

    def refused(self, outcome: Outcome) -> Next:
        """What to do when the claim was refused.

        Raises:
            ApplicationError: others take this process for dead; let another attempt begin under its new presence.
        """
        code = None if outcome.rejection is None else outcome.rejection.code
        log.info("operation_not_claimed", code=code)
        if code == "presence_lost":
            raise given_back("PresenceLost", str(outcome.rejection), self.parts.settings.give_back_s)
        return self.next_of(outcome)

    async def state(self) -> AgentState:
        """The agent's state now."""
        return await persist(lambda: self.parts.journal.state(self.key))

    def watched(self, outcome: Outcome, ordinal: int) -> Watched:
        """This attempt as the watcher follows it."""
        given, seq = self.given, outcome.control.seq
        return Watched(
            self.key, outcome.thread_id, given.turn, given.step, ordinal, given.call, seen_seq=seq, stop=self.stop
        )

    def agent_unknown(self, tool: str = "") -> ApplicationError:
        """Give the activity back, for a worker that knows the agent, and all of its tools."""
        return agent_unknown(self.parts, self.key, self.given.turn, tool)

    async def media(self, state: AgentState) -> Mapping[str, bytes]:
        """The bytes of the media in the context."""
        wanted = {
            block.blob
            for message in state.context
            for block in (*message.blocks, *(b for r in message.results for b in r.output))
            if block.type == "media" and block.blob is not None
        }
        return await persist(lambda: self.parts.journal.blobs(self.key.session_key, wanted))

    async def _testify(self, testimony: Testimony) -> Outcome:
        """Commit it, also when that must wait for a repair or an upgrade: nobody else knows what happened."""
        while True:
            try:
                return await self.commit(testimony)
            except ThreadGone:
                raise
            except JournalError:
                log.exception("report_refused", retry_in_s=self.parts.settings.repair_retry_s)
                await asyncio.sleep(self.parts.settings.repair_retry_s)

    async def _checkpoint(self) -> None:
        """Keep the state; a checkpoint is a cache, and the next report tries again."""
        try:
            await self.parts.journal.checkpoint(self.key, await self.parts.journal.state(self.key))
        except JournalError as error:
            log.warning("checkpoint_not_kept", error=str(error))


def agent_unknown(parts: Parts, key: ThreadKey, turn: str, tool: str = "") -> ApplicationError:
    """Gives an activity back to the queue because this worker does not know the agent, or a tool of it."""
    what = f"tool {tool!r} of agent {key.agent!r}" if tool else f"agent {key.agent!r}"
    if parts.seldom.is_due("agent_unknown", turn, what):
        then = "it waits for a worker that does"
        log.warning("agent_unknown", turn=turn, thread=key.canonical, unknown=what, then=then)
    return given_back("AgentUnknown", f"this worker does not know {what}", parts.settings.give_back_s)


def given_back(kind: str, message: str, retry_s: float) -> ApplicationError:
    """Gives an activity back to the queue: another attempt, here or elsewhere, may do better.

    Benign, so that Temporal's SDK does not log each attempt with its stack; whoever gives back says why, seldom.
    """
    delay, benign = timedelta(seconds=retry_s), ApplicationErrorCategory.BENIGN
    return ApplicationError(message, type=kind, next_retry_delay=delay, category=benign)
