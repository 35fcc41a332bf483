"""A worker is killed exactly between an effect that must happen once and its result, and once just before it.

Nobody in the system can know whether the line was written. The tool's reconcile hook looks into the ledger.
"""

from __future__ import annotations

from examples.demo.gates import LEDGER_AFTER, LEDGER_BEFORE
from examples.demo.scene import Saw, Scene
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import Stage
from examples.demo.takeover import Takeover, kill_and_watch
from turnwright.client import Turn
from turnwright.journal.entries import Entry, ToolReconciled, ToolStarted, TurnCompleted

BETWEEN = "Killed between a once-only effect and its result: the hook finds the effect, and it is not repeated"
BEFORE = "Killed just before a once-only effect: the hook finds none, and it happens after all"
PAID, LETTER = "paid the rent", "sent a letter"


async def play(stage: Stage, saw: Saw) -> None:
    """The real model orders the effects, if it calls the tool; else a script."""
    found = await killed_at(stage, LEDGER_AFTER, PAID, lambda: stage.ledger.count(PAID) > 0)
    saw(BETWEEN, told(stage, found, PAID), ok=found.outcome == "succeeded" and stage.ledger.count(PAID) == 1)
    await stage.full_crew()
    found = await killed_at(stage, LEDGER_BEFORE, LETTER, lambda: stage.gates.reached(LEDGER_BEFORE))
    saw(BEFORE, told(stage, found, LETTER), ok=found.outcome == "run_again" and stage.ledger.count(LETTER) == 1)


class Found:
    """What the hook said, after what takeover."""

    def __init__(self, takeover: Takeover, reconciled: Entry) -> None:
        assert isinstance(reconciled.payload, ToolReconciled)
        self.takeover = takeover
        self.outcome = reconciled.payload.outcome


async def killed_at(stage: Stage, gate: str, text: str, there: object) -> Found:
    """Kill the worker that waits at the gate inside the tool."""
    with stage.gates.closed(gate):
        turn, claim = await started(stage, gate, text)
        await stage.until(there, "the tool has come exactly so far")  # type: ignore[arg-type]
        takeover = await kill_and_watch(stage, turn, claim)
    reconciled = await stage.entry(turn, lambda e: isinstance(e.payload, ToolReconciled))
    await stage.answer(turn)
    return Found(takeover, reconciled)


async def started(stage: Stage, gate: str, text: str) -> tuple[Turn, Entry]:
    """A turn in which the ledger's tool was started: by the real model, else by a script."""
    turn = await stage.submit(stage.thread("clerk", gate), f"Write into the ledger: {text}.")
    claim = await stage.entry(turn, lambda e: isinstance(e.payload, ToolStarted | TurnCompleted))
    if isinstance(claim.payload, ToolStarted) and claim.payload.name == "append_ledger":
        return turn, claim
    stage.screen.say("the real model did not call the tool: the desk does it from a script", "yellow")
    steps = calls(call("append_ledger", text=text)), says("Done: {result}")
    turn = await stage.submit(stage.thread("desk", gate), scripted("Note it.", *steps))
    return turn, await stage.entry(turn, lambda e: isinstance(e.payload, ToolStarted))


def told(stage: Stage, found: Found, text: str) -> str:
    """For the table."""
    return f"{found.takeover.told}; hook: {found.outcome}; “{text}” is in the ledger {stage.ledger.count(text)} time"


SCENE = Scene("SIGKILL between effect and result", (BETWEEN, BEFORE), play)
