"""The real model calls tools by itself, where it can; the output says where it cannot."""

from __future__ import annotations

from examples.demo.scene import Saw, Scene
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import Stage
from turnwright.client import Turn
from turnwright.journal.entries import ToolFinished

OWN_CALLS = "The real model calls tools by itself; where it does not, a script does, and this table says so"
SOLD = "sold one lamp"


async def play(stage: Stage, saw: Saw) -> None:
    """Ask the clerk, and the desk only if the clerk talks instead of acting."""
    # Threads of their own: what it has just said confuses a model of this size.
    reading = await stage.submit(stage.thread("clerk", "reading"), "Read the file notes.txt.")
    await stage.answer(reading)
    noting = await stage.submit(stage.thread("clerk", "noting"), f"Write into the ledger: {SOLD}.")
    await stage.answer(noting)
    acted = [name for turn in (reading, noting) for name in await called(turn)]
    by = f"the real model called {', '.join(acted) or 'nothing'}"
    if stage.ledger.count(SOLD) == 0:
        by += "; a script wrote into the ledger"
        stage.screen.say("the real model did not write into the ledger: the desk does it from a script", "yellow")
        desk = stage.thread("desk", "instead")
        steps = calls(call("append_ledger", text=SOLD)), says("Done: {result}")
        await stage.answer(await stage.submit(desk, scripted("Note the sale.", *steps)))
    count = stage.ledger.count(SOLD)
    saw(OWN_CALLS, f"{by}; “{SOLD}” is in the ledger {count} time", ok=count == 1)


async def called(turn: Turn) -> list[str]:
    """The tools that ran in the turn."""
    return [entry.payload.name async for entry in turn.events() if isinstance(entry.payload, ToolFinished)]


SCENE = Scene("The real model calls tools", (OWN_CALLS,), play)
