"""A worker is killed in the middle of a sequence of tools: what is done stays done, what was cut off is repeated."""

from __future__ import annotations

from examples.demo.gates import FILE_AFTER
from examples.demo.scene import Saw, Scene
from examples.demo.script import call, calls, says, scripted
from examples.demo.stage import Stage
from examples.demo.takeover import kill_and_watch
from turnwright.client import Turn
from turnwright.journal.entries import ToolStarted

GOES_ON = "A worker is killed in the middle of a sequence of tools: another worker goes on behind what was done"
ONCE = "Each line is in the ledger once, the one before the kill and the one after it"
SAME_KEY = "A call that may be repeated is repeated with the same key"
BEFORE, AFTER = "lent the ladder", "got the ladder back"


async def play(stage: Stage, saw: Saw) -> None:
    """Ledger, file, ledger; the worker dies in the file."""
    thread = stage.thread("desk", "killed-tools")
    with stage.gates.closed(FILE_AFTER):
        turn = await stage.submit(
            thread,
            scripted(
                "Lend the ladder, write a receipt, take it back.",
                calls(call("append_ledger", text=BEFORE)),
                calls(call("write_file", name="receipt.txt", text="One ladder.")),
                calls(call("append_ledger", text=AFTER)),
                says("Lent and back."),
            ),
        )
        claim = await stage.entry(turn, lambda e: started(e.payload, "write_file"))
        await stage.until(lambda: stage.gates.reached(FILE_AFTER), "the file is half written")
        takeover = await kill_and_watch(stage, turn, claim)
    await stage.answer(turn)
    counts = stage.ledger.count(BEFORE), stage.ledger.count(AFTER)
    written = (stage.place.shop / "receipt.txt").read_text(encoding="utf-8")
    keys = await keys_of(turn, "write_file")
    saw(GOES_ON, f"{takeover.told}; completed", ok=written == "One ladder.")
    saw(ONCE, f"“{BEFORE}” {counts[0]} time, “{AFTER}” {counts[1]} time", ok=counts == (1, 1))
    seen = f"write_file ran {len(keys)} times with {len(set(keys))} key; one receipt.txt"
    saw(SAME_KEY, seen, ok=len(keys) > 1 and len(set(keys)) == 1)


def started(payload: object, tool: str) -> bool:
    """Whether this is the start of that tool."""
    return isinstance(payload, ToolStarted) and payload.name == tool


async def keys_of(turn: Turn, tool: str) -> list[str]:
    """The idempotency keys of all attempts at that tool."""
    payloads = [entry.payload async for entry in turn.events()]
    return [payload.key for payload in payloads if isinstance(payload, ToolStarted) and payload.name == tool]


SCENE = Scene("SIGKILL in a sequence of tools", (GOES_ON, ONCE, SAME_KEY), play)
