"""Temporal is stopped, its data file deleted, and a new one started: to the turns this is one more interruption."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from examples.demo.gates import FILE_AFTER
from examples.demo.narrate import short
from examples.demo.scene import Saw, Scene
from examples.demo.scenes.kill_between_tools import started
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import SEEN_TIMEOUT_S, Stage
from turnwright.client import Turn, TurnView

RUNNING = "Temporal's data is deleted while a turn runs: the turn goes on"
ACCEPTED = "While Temporal is down a turn is accepted, and it runs when Temporal is back"
STAYS_PAUSED = "A paused turn stays paused, and the turn queued behind it stays queued"
CONTINUES = "Both continue when the pause is lifted, and every effect is there once"
LOOK_S = 3.0
RUNS, PAUSED, QUEUED = "swept the floor", "painted the door", "closed the shop"


@dataclass(frozen=True, slots=True)
class Held:
    """A paused turn, the turn behind it, and how the paused one was shown."""

    paused: Turn
    queued: Turn
    shown: TurnView


async def play(stage: Stage, saw: Saw) -> None:
    """Forget everything but the journal."""
    held = await prepare_held(stage)
    shown = held.shown
    with stage.gates.closed(FILE_AFTER):
        running = await start_running(stage)
        stage.screen.say(f"one turn runs, one is {shown.status} (revision {shown.revision}), one is queued behind it")
        await stage.temporal.stop()
        stage.screen.say("Temporal is stopped", "bold red")
        late = await stage.submit(stage.thread("clerk", "late"), "Read the file notes.txt.")
        receipt = late.receipt
        assert receipt is not None
        stage.screen.say(f"a turn is submitted meanwhile: {receipt.status}, entry {receipt.seq} of its thread")
    stage.temporal.erase()
    gone = not stage.place.temporal_file.exists()
    stage.screen.say("its data file is deleted", "bold red")
    await stage.temporal.start()
    stage.screen.say(f"a new, empty Temporal is there (process {stage.temporal.pid})")
    await stage.answer(running)
    count = stage.ledger.count(RUNS)
    saw(RUNNING, f"completed; “{RUNS}” is in the ledger {count} time", ok=gone and count == 1)
    text = await stage.answer(late)
    saw(ACCEPTED, f"{receipt.status} while it was down; answered “{short(text, 40)}”", ok=gone and bool(text))
    await judge_held(stage, saw, held)


async def prepare_held(stage: Stage) -> Held:
    """One turn that is paused between two tools, and one queued behind it."""
    held = stage.thread("desk", "held")
    with stage.gates.closed(FILE_AFTER):
        paused = await stage.submit(
            held,
            scripted(
                "Mix the paint, then paint the door.",
                calls(call("write_file", name="paint.txt", text="blue")),
                calls(call("append_ledger", text=PAUSED)),
                says("Painted."),
            ),
        )
        await stage.entry(paused, lambda e: started(e.payload, "write_file"))
        await paused.pause(reason="it rains")
    shown = await paused.wait(SEEN_TIMEOUT_S, until=["paused"])
    note = calls(call("append_ledger", text=QUEUED))
    return Held(paused, await stage.submit(held, scripted("Close the shop.", note, says("Closed."))), shown)


async def start_running(stage: Stage) -> Turn:
    """A turn that is held in the middle of a tool."""
    running = await stage.submit(
        stage.thread("desk", "runs"),
        scripted(
            "Write the plan, then sweep.",
            calls(call("write_file", name="plan.txt", text="sweep")),
            calls(call("append_ledger", text=RUNS)),
            says("Swept."),
        ),
    )
    await stage.entry(running, lambda e: started(e.payload, "write_file"))
    await stage.until(lambda: stage.gates.reached(FILE_AFTER), "the tool is in the middle")
    return running


async def judge_held(stage: Stage, saw: Saw, turns: Held) -> None:
    """The pause is still there with its revision; then it is lifted."""
    await asyncio.sleep(LOOK_S)
    paused, queued = await turns.paused.status(), await turns.queued.status()
    seen = f"{paused.status} at revision {paused.revision} (before: {turns.shown.revision}); the other {queued.phase}"
    same = (paused.status, paused.revision, queued.phase) == ("paused", turns.shown.revision, "queued")
    saw(STAYS_PAUSED, seen, ok=same and stage.ledger.count(PAUSED) == stage.ledger.count(QUEUED) == 0)
    await turns.paused.resume(turns.shown.revision)
    await stage.answer(turns.paused)
    await stage.answer(turns.queued)
    counts = stage.ledger.count(PAUSED), stage.ledger.count(QUEUED)
    saw(
        CONTINUES,
        f"both completed; their lines are in the ledger {counts[0]} and {counts[1]} time",
        ok=counts == (1, 1),
    )


SCENE = Scene("Temporal loses everything", (RUNNING, ACCEPTED, STAYS_PAUSED, CONTINUES), play)
