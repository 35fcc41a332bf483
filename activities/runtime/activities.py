"""The activities under the names workflows know them by.

Rule: this file only gives names and parts; each activity is a function in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from temporalio import activity

from turnwright.activities.models.port import Model
from turnwright.activities.models.router import Models
from turnwright.activities.registry import Registry
from turnwright.activities.runtime import control
from turnwright.activities.runtime.attend import attend
from turnwright.activities.runtime.describing import Describing
from turnwright.activities.runtime.drafting import Drafting
from turnwright.activities.runtime.fan_out import fan_out_session
from turnwright.activities.runtime.model_step import model_step
from turnwright.activities.runtime.parts import Parts
from turnwright.activities.runtime.places import Places
from turnwright.activities.runtime.reconcile import reconcile_call
from turnwright.activities.runtime.seldom import Seldom
from turnwright.activities.runtime.settings import ActivitySettings
from turnwright.activities.runtime.surroundings import Surroundings
from turnwright.activities.runtime.take_tick import take_tick
from turnwright.activities.runtime.tool_call import tool_call
from turnwright.activities.runtime.watcher import Watcher
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.store import Journal
from turnwright.workflows.payloads import (
    Claimed,
    ClaimInput,
    Dispatched,
    DispatchInput,
    FannedOut,
    HandTyped,
    LookInput,
    Next,
    SessionInput,
    StepInput,
    ThreadInput,
    TickInput,
    TickTaken,
)
from turnwright.workflows.waking import Waker


class Activities:
    """All activities of one worker process.

    Args:
        journal: the journal.
        waker: wakes workflows of this journal.
        registry: the agents this worker knows.
        presence: gives the process's presence id at the moment; empty while it has none.
        settings: bounds.
        models: the model port; by default every provider and the scripted one.
        tools: runs tool bodies.
        around: what looks on while attempts run; by default nothing.
    """

    def __init__(
        self,
        journal: Journal,
        waker: Waker,
        registry: Registry,
        presence: Callable[[], str],
        settings: ActivitySettings | None = None,
        *,
        models: Model | None = None,
        tools: ToolHost | None = None,
        around: Surroundings | None = None,
    ) -> None:
        settings, around, models = settings or ActivitySettings(), around or Surroundings(), models or Models()
        watcher, seldom = Watcher(journal, settings), Seldom()
        self.parts = Parts(
            journal,
            Places(journal),
            waker,
            registry,
            models,
            tools or ToolHost(),
            watcher,
            Drafting(journal, seldom),
            Describing(journal, registry, models),
            presence,
            settings,
            boundary=around.boundary,
            within=around.within,
            seldom=seldom,
        )

    async def start(self) -> None:
        """Begin to watch the operations that will run here."""
        self.parts.watcher.start()
        self.parts.drafting.start()
        self.parts.describing.start()

    async def stop(self) -> None:
        """Stop watching and close the connections of models and of what tools come from."""
        await self.parts.watcher.stop()
        await self.parts.drafting.stop()
        await self.parts.describing.stop()
        await self.parts.sources.close()
        await self.parts.models.aclose()

    @property
    def all(self) -> list[Callable[..., Any]]:
        """What a Temporal worker registers."""
        return [
            self.claim_turn,
            self.claim_known_turn,
            self.look,
            self.dispatch_thread,
            self.wake_thread,
            self.record_hand_typed,
            self.fan_out_session,
            self.take_tick,
            self.model_step,
            self.tool_call,
            self.reconcile_call,
        ]

    @activity.defn(name="claim_turn")
    async def claim_turn(self, given: ClaimInput) -> Claimed:
        """Take a turn for a run."""
        return await control.claim_turn(self.parts, given)

    @activity.defn(name="claim_known_turn")
    async def claim_known_turn(self, given: ClaimInput) -> Claimed:
        """Take a turn on a worker that knows its agent."""
        return await control.claim_known_turn(self.parts, given)

    @activity.defn(name="look")
    async def look(self, given: LookInput) -> Next:
        """Say what is next for a turn."""
        return await control.look(self.parts, given)

    @activity.defn(name="dispatch_thread")
    async def dispatch_thread(self, given: DispatchInput) -> Dispatched:
        """Wake the turn of a thread that has something to do."""
        return await control.dispatch_thread(self.parts, given)

    @activity.defn(name="wake_thread")
    async def wake_thread(self, given: ThreadInput) -> None:
        """Wake a thread."""
        await control.wake_thread(self.parts, given)

    @activity.defn(name="record_hand_typed")
    async def record_hand_typed(self, given: HandTyped) -> str:
        """Journal a command that came by signal."""
        return await control.record_hand_typed(self.parts, given)

    @activity.defn(name="fan_out_session")
    async def fan_out_session(self, given: SessionInput) -> FannedOut:
        """Wake a page of a session's threads."""
        return await fan_out_session(self.parts, given)

    @activity.defn(name="take_tick")
    async def take_tick(self, given: TickInput) -> TickTaken:
        """Have the journal decide what becomes of a tick."""
        return await take_tick(self.parts, given)

    @activity.defn(name="model_step")
    async def model_step(self, given: StepInput) -> Next:
        """Carry out a model call."""
        return await attend(self.parts, given, model_step)

    @activity.defn(name="tool_call")
    async def tool_call(self, given: StepInput) -> Next:
        """Carry out a tool call."""
        return await attend(self.parts, given, tool_call)

    @activity.defn(name="reconcile_call")
    async def reconcile_call(self, given: StepInput) -> Next:
        """Ask a tool what became of a call."""
        return await attend(self.parts, given, reconcile_call)
