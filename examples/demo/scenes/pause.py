"""A turn is paused in the middle of a tool and resumed by somebody who saw that it was paused."""

from __future__ import annotations

import asyncio

from examples.demo.gates import FILE_AFTER
from examples.demo.scene import Saw, Scene
from examples.demo.scenes.kill_between_tools import started
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import SEEN_TIMEOUT_S, Stage

PAUSES = "A pause lets the running call end, and nothing starts while it lasts"
RESUMES = "Resuming needs the revision that the pause has now; an older one is refused"
NOTED = "watered the plants"
LOOK_S = 2.0


async def play(stage: Stage, saw: Saw) -> None:
    """Pause, look, resume with an old revision, resume with the right one."""
    thread = stage.thread("desk", "paused")
    with stage.gates.closed(FILE_AFTER):
        turn = await stage.submit(
            thread,
            scripted(
                "Write a list, then water the plants.",
                calls(call("write_file", name="plants.txt", text="fern, palm")),
                calls(call("append_ledger", text=NOTED)),
                says("Done."),
            ),
        )
        await stage.entry(turn, lambda e: started(e.payload, "write_file"))
        await turn.pause(reason="lunch")
        pausing = await turn.status()
        stage.screen.say(f"shown as {pausing.status}, revision {pausing.revision}")
    paused = await turn.wait(SEEN_TIMEOUT_S, until=["paused"])
    before = (await thread.status()).seq
    stage.screen.say(f"shown as {paused.status}, revision {paused.revision}; looking for {LOOK_S:g} s")
    await asyncio.sleep(LOOK_S)
    new = (await thread.status()).seq - before
    shown = f"{pausing.status}, then {paused.status}; {new} new entries in {LOOK_S:g} s"
    quiet = (pausing.status, paused.status, new, stage.ledger.count(NOTED)) == ("pausing", "paused", 0, 0)
    saw(PAUSES, shown, ok=quiet)
    refused = await turn.resume(paused.revision - 1, check=False)
    stage.screen.say(f"resume at revision {paused.revision - 1}: {refused.status}, {refused.reason}")
    accepted = await turn.resume(paused.revision)
    await stage.answer(turn)
    seen = f"revision {paused.revision - 1}: {refused.code}; revision {paused.revision}: {accepted.status}, completed"
    ok = refused.code == "stale_revision" and stage.ledger.count(NOTED) == 1
    saw(RESUMES, seen, ok=ok)


SCENE = Scene("Pause and resume", (PAUSES, RESUMES), play)
