"""Two threads at work side by side: one thinks with the real model, the other follows scripts through real files."""

from __future__ import annotations

import asyncio

from examples.demo.scene import Saw, Scene
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import Stage
from turnwright.client import Turn
from turnwright.journal.entries import TurnCompleted, TurnStarted

SIDE_BY_SIDE = "Turns of two threads run side by side; each thread keeps its order"
FILES = "Tools read and write real files"
LEDGER = "A tool that must run once wrote its line into the ledger once"
ARCHIVE_LINES = 3_000
ARCHIVES = ("archive-1.txt", "archive-2.txt", "archive-3.txt")
SOLD = "opened the shop"
REPORT = "Three archives were read."


def fill_shop(stage: Stage) -> None:
    """Files for the tools; the archives are large, as files that agents read are."""
    (stage.place.shop / "notes.txt").write_text("The blue lamp is reserved for Ada.\n", encoding="utf-8")
    for name in ARCHIVES:
        lines = (f"{name} line {n:04}: sold {n % 7 + 1} lamps" for n in range(ARCHIVE_LINES))
        (stage.place.shop / name).write_text("\n".join(lines), encoding="utf-8")


async def play(stage: Stage, saw: Saw) -> None:
    """Two turns on each thread, submitted at once."""
    fill_shop(stage)
    writer, desk = stage.thread("writer", "main"), stage.thread("desk", "main")
    asked = (
        await stage.submit(writer, "Say in one short sentence what a ledger is."),
        await stage.submit(writer, "And who needs one? One short sentence."),
    )
    told = (
        await stage.submit(
            desk,
            scripted(
                "Read the archives.",
                calls(call("list_files")),
                calls(*(call("read_file", name=name) for name in ARCHIVES)),
                says("I have read three archives."),
            ),
        ),
        await stage.submit(
            desk,
            scripted(
                "Write a report, and note in the ledger that we opened.",
                calls(call("write_file", name="report.txt", text=REPORT)),
                calls(call("append_ledger", text=SOLD)),
                says("Done: {result}"),
            ),
        ),
    )
    await asyncio.gather(*(turn.result(120) for turn in (*asked, *told)))
    await judge(stage, saw, asked, told)


async def judge(stage: Stage, saw: Saw, asked: tuple[Turn, Turn], told: tuple[Turn, Turn]) -> None:
    """Compare the files and the timeline of the session with what was asked for."""
    spans = {turn.id: await span(turn) for turn in (*asked, *told)}
    in_order = all(spans[one.id][1] < spans[two.id][0] for one, two in (asked, told))
    at_once = spans[asked[0].id][0] < spans[told[1].id][1] and spans[told[0].id][0] < spans[asked[1].id][1]
    seen = f"4 turns completed; {'their entries interleave' if at_once else 'one after the other'}; 2 by the real model"
    saw(SIDE_BY_SIDE, seen, ok=in_order and at_once)
    written = stage.place.shop / "report.txt"
    found = written.read_text(encoding="utf-8") if written.exists() else ""
    state = await stage.thread("desk", "main").state()
    read = sum(len(result.output) for message in state.context for result in message.results)
    saw(FILES, f"report.txt holds “{found}”; {read} results in the conversation", ok=found == REPORT)
    saw(LEDGER, f"“{SOLD}” stands there {stage.ledger.count(SOLD)} time", ok=stage.ledger.count(SOLD) == 1)


async def span(turn: Turn) -> tuple[int, int]:
    """Where in the session's timeline the turn began and ended."""
    entries = [entry async for entry in turn.events()]
    begun = next(entry.position for entry in entries if isinstance(entry.payload, TurnStarted))
    ended = next(entry.position for entry in entries if isinstance(entry.payload, TurnCompleted))
    return begun, ended


SCENE = Scene("Two threads, real files, a real model", (SIDE_BY_SIDE, FILES, LEDGER), play)
