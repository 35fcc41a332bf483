"""Turns, and plain workflows, whose worker dies at a certain moment; and how long they stand still then."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowHandle

from benchmarks.agents import ACTING, SILENT, TURN, WAITING
from benchmarks.bare_worker import SUICIDAL, BareCalling, BareDeciding, BareWaiting
from benchmarks.fleet import Fleet
from benchmarks.workers_seen import AnyHandle, who_calls, who_waits
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Entry, ModelFailed, ModelRequested, RunClaimed, ToolStarted
from turnwright.workflows.ids import turn_workflow_id

TAKEOVER_S_MAX = 60
_names = itertools.count(1)


class Victims(Protocol):
    """Each method kills a worker of the fleet, and gives the seconds until somebody goes on."""

    @property
    def suicidal(self) -> Mapping[str, str]:
        """The environment of a worker that kills itself in its first local activity."""
        ...

    async def idle(self, fleet: Fleet) -> float:
        """From the end of a wait."""
        ...

    async def calling(self, fleet: Fleet) -> float:
        """In a model call."""
        ...

    async def acting(self, fleet: Fleet) -> float:
        """In a tool call."""
        ...

    async def deciding(self, fleet: Fleet) -> float:
        """In a local activity; the fleet's worker does it itself, others leave it the task sooner or later."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """Turns."""

    temporal: TemporalClient
    client: Client
    journal_id: str
    suicidal: Mapping[str, str] = field(default_factory=lambda: {"TURNWRIGHT_FAULT": "kill@turn:claiming:1"})

    async def idle(self, fleet: Fleet) -> float:
        """The provider asked to wait."""
        turn, identity, due_s = await self.waits()
        await fleet.kill(identity)
        return await begun_again(turn) - due_s

    async def waits(self) -> tuple[Turn, str, float]:
        """A turn that waits, who holds it, and when the wait is over, which is in a moment."""
        turn, workflow = await self.begin(WAITING.name)
        await entry_of(turn, lambda entry: isinstance(entry.payload, ModelFailed))
        return turn, *await who_waits(workflow)

    async def calling(self, fleet: Fleet) -> float:
        """The model is silent, the first time."""
        return await self._called(SILENT.name, ModelRequested, fleet)

    async def acting(self, fleet: Fleet) -> float:
        """The tool hangs, the first time."""
        return await self._called(ACTING.name, ToolStarted, fleet)

    async def deciding(self, fleet: Fleet, at_once: int = 1) -> float:
        """The first claim of a turn. One by one, turns may all go to the worker that carried out the one before; of so
        many begun at once the last to be claimed counts.
        """
        while True:
            turns = await asyncio.gather(*(self.begin(TURN.name) for _ in range(at_once)))
            died_s = await fleet.until_dead(_all_over([turn for turn, _ in turns]))
            if died_s is not None:
                claims = [entry_of(turn, lambda entry: isinstance(entry.payload, RunClaimed)) for turn, _ in turns]
                return max(claimed.at_us for claimed in await asyncio.gather(*claims)) / SECOND_US - died_s

    async def begin(self, agent: str) -> tuple[Turn, AnyHandle]:
        """A new turn, and its workflow."""
        session = self.client.session(None, f"takeover-{next(_names)}")
        await session.create()
        turn = await session.submit("begin", agent=agent)
        return turn, self.temporal.get_workflow_handle(turn_workflow_id(self.journal_id, turn.key, turn.id))

    async def _called(self, agent: str, kind: type, fleet: Fleet) -> float:
        turn, workflow = await self.begin(agent)
        await entry_of(turn, lambda entry: isinstance(entry.payload, kind))
        killed_s = await fleet.kill(await who_calls(workflow))
        return await begun_again(turn) - killed_s


@dataclass(frozen=True, slots=True)
class Theirs:
    """Plain workflows; a call of theirs is an activity, whatever it calls."""

    temporal: TemporalClient
    queue: str
    folder: Path
    suicidal: Mapping[str, str] = field(default_factory=lambda: {SUICIDAL: "1"})

    async def idle(self, fleet: Fleet) -> float:
        """A timer."""
        workflow = await self.start(BareWaiting)
        identity, due_s = await who_waits(workflow)
        await fleet.kill(identity)
        return await workflow.result() - due_s

    async def calling(self, fleet: Fleet) -> float:
        """An activity that sends heartbeats."""
        workflow = await self.start(BareCalling)
        killed_s = await fleet.kill(await who_calls(workflow))
        return await workflow.result() - killed_s

    async def acting(self, fleet: Fleet) -> float:
        """The same."""
        return await self.calling(fleet)

    async def deciding(self, fleet: Fleet) -> float:
        """A local activity."""
        while True:
            workflow = await self.start(BareDeciding)
            died_s = await fleet.until_dead(workflow.result())
            if died_s is not None:
                return await workflow.result() - died_s

    async def start(self, kind: type) -> WorkflowHandle[Any, float]:
        """Start one of the peer's workflows that give a time of day."""
        name = f"bare-{next(_names)}"
        return await self.temporal.start_workflow(kind.__name__, id=name, task_queue=self.queue, result_type=float)


async def _all_over(turns: Sequence[Turn]) -> None:
    await asyncio.gather(*(turn.wait() for turn in turns))


async def entry_of(turn: Turn, wanted: Callable[[Entry], bool], wait_s_max: float = TAKEOVER_S_MAX) -> Entry:
    """The turn's first entry like that."""
    async with asyncio.timeout(wait_s_max):
        async for entry in turn.events():
            if wanted(entry):
                return entry
    raise AssertionError(f"{turn} has ended without what was waited for")


async def begun_again(turn: Turn) -> float:
    """The time of day of the turn's first entry with a new epoch or ordinal."""
    first = await entry_of(turn, lambda entry: isinstance(entry.payload, RunClaimed))

    def again(entry: Entry) -> bool:
        newer = entry.epoch is not None and first.epoch is not None and entry.epoch > first.epoch
        return newer or (isinstance(entry.payload, ModelRequested | ToolStarted) and entry.payload.ordinal > 1)

    return (await entry_of(turn, again)).at_us / SECOND_US
