"""Temporal is stopped, its data file deleted, and a new one started: to the turns this is one more interruption."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from examples.demo.gates import FILE_AFTER
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
class Turns:
    """The turns that Temporal will forget."""

    running: Turn
    paused: Turn
    queued: Turn
    shown: TurnView


async def play(stage: Stage, saw: Saw) -> None:
    """Forget everything but the journal."""
    with stage.gates.closed(FILE_AFTER):
        turns = await prepare(stage)
        await stage.temporal.stop()
        stage.screen.say("Temporal is stopped", "bold red")
        late = await stage.submit(stage.thread("clerk", "while Temporal is down"), "Read the file notes.txt.")
        receipt = late.receipt
        stage.screen.say(
            f"a turn is submitted meanwhile: {receipt and receipt.status} as entry {receipt and receipt.seq}"
        )
    stage.temporal.erase()
    gone = not stage.place.temporal_file.exists()
    stage.screen.say("its data file is deleted", "bold red")
    await stage.temporal.start()
    stage.screen.say(f"a new, empty Temporal is there (process {stage.temporal.pid})")
    await stage.answer(turns.running)
    count = stage.ledger.count(RUNS)
    saw(RUNNING, f"completed; “{RUNS}” is in the ledger {count} time", ok=gone and count == 1)
    text = await stage.answer(late)
    saw(ACCEPTED, f"{receipt and receipt.status} while it was down; answered “{text[:40]}”", ok=gone and bool(text))
    await judge_paused(stage, saw, turns)


async def prepare(stage: Stage) -> Turns:
    """One turn in the middle of a tool, one paused, one queued behind that."""
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
    held = stage.thread("desk", "held")
    note = calls(call("append_ledger", text=PAUSED))
    paused = await stage.submit(
        held, scripted("Look around, then paint.", calls(call("list_files")), note, says("Ok."))
    )
    await paused.pause(reason="the paint is wet")
    shown = await paused.wait(SEEN_TIMEOUT_S, until=["paused"])
    note = calls(call("append_ledger", text=QUEUED))
    queued = await stage.submit(held, scripted("Close the shop.", note, says("Closed.")))
    stage.screen.say(f"one turn runs, one is {shown.status} (revision {shown.revision}), one is queued behind it")
    return Turns(running, paused, queued, shown)


async def judge_paused(stage: Stage, saw: Saw, turns: Turns) -> None:
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
