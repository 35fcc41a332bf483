"""A worker is killed, and another one goes on: who, and how long it took."""

from __future__ import annotations

import time
from dataclasses import dataclass

from examples.demo.stage import Stage
from turnwright.client import Turn
from turnwright.journal.entries import Entry, ToolReconciled


@dataclass(frozen=True, slots=True)
class Takeover:
    """What followed a SIGKILL. `seconds`: until the first entry of a newer attempt or run was in the journal."""

    killed: str
    went_on: str
    seconds: float
    entry: Entry

    @property
    def told(self) -> str:
        """For the table."""
        return f"{self.killed} killed; {self.went_on} went on after {self.seconds:.2f} s ({self.entry.type})"


async def kill_and_watch(stage: Stage, turn: Turn, claim: Entry) -> Takeover:
    """SIGKILL to the worker behind a claim, and wait for what another one records next."""
    worker = await stage.crew.find(claim.payload.presence)  # type: ignore[attr-defined]
    await stage.told(turn, claim)
    killed_s = stage.crew.kill(worker)
    stage.screen.say(f"SIGKILL to {worker.name} (process {worker.child.pid})", "bold red")
    entry = await stage.entry(turn, lambda e: is_newer(e, claim), after=claim.seq)
    seconds = time.monotonic() - killed_s
    presence = getattr(entry.payload, "presence", None)
    # What settles a call names nobody: then it was who is left.
    went_on = stage.crew.names if presence is None else (await stage.crew.find(presence)).name
    stage.screen.say(f"{went_on} goes on, {seconds:.2f} s after the kill: {entry.type}", "bold green")
    return Takeover(worker.name, went_on, seconds, entry)


def is_newer(entry: Entry, claim: Entry) -> bool:
    """Whether the entry is of a newer run, or of a newer attempt of what was claimed, or settles it."""
    if (entry.epoch or 0) > (claim.epoch or 0) or isinstance(entry.payload, ToolReconciled):
        return True
    same = entry.step == claim.step and entry.type == claim.type
    return same and getattr(entry.payload, "ordinal", 0) > claim.payload.ordinal  # type: ignore[attr-defined]
