"""`python -m examples.demo [--json]`: play all scenes, show the table, clean up.

Exit codes: 0 all promises kept, 1 a promise broken, 2 something needed is missing, 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from examples.demo.board import Board
from examples.demo.crew import WorkerTrouble
from examples.demo.place import Place, new_place
from examples.demo.scenes import SCENES
from examples.demo.screen import Screen
from examples.demo.stage import set_up
from examples.local_model import LocalModelError
from turnwright.journal.errors import TurnwrightError
from turnwright.worker.logs import configure_logs
from turnwright.worker.temporal_server import TemporalServerError

KEPT, BROKEN, MISSING, INTERRUPTED = 0, 1, 2, 130
GONE = "At the end no process is left"
NEEDED = (LocalModelError, TemporalServerError, TurnwrightError, WorkerTrouble, TimeoutError, OSError)


async def show(place: Place, screen: Screen) -> int:
    """Everything, from the first process to the last."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    board = Board()
    async with set_up(place, screen, board) as stage:
        for number, scene in enumerate(SCENES, start=1):
            screen.scene(number, scene.title)
            await scene.perform(stage)
        pids = stage.pids
    left = sorted(pid for pid in pids if is_running(pid))
    board.saw("end", GONE, f"{len(pids)} started, running: {', '.join(map(str, left)) or 'none'}", ok=not left)
    screen.scene(len(SCENES) + 1, "What was promised, and what was seen")
    screen.show(board.table())
    if screen.as_json:
        print(*board.json_lines(), sep="\n", flush=True)
    kept = sum(row.ok for row in board.rows)
    screen.say(f"{kept} of {len(board.rows)} promises kept in {screen.elapsed_s:.0f} s", "bold")
    return KEPT if board.kept else BROKEN


def main() -> int:
    """Run it as a command."""
    parser = argparse.ArgumentParser("turnwright demo", description="Show what survives, with a real language model.")
    parser.add_argument("--json", action="store_true", help="Each promise and what was seen as one object a line.")
    screen = Screen(as_json=parser.parse_args().json)
    with new_place() as place:
        configure_logs("json", "warning", place.log_of("demo").open("a", encoding="utf-8"))
        folder = relative(place.folder)
        screen.say(f"everything of this run is kept in {folder}")
        try:
            return asyncio.run(show(place, screen))
        except (KeyboardInterrupt, asyncio.CancelledError):
            screen.say("interrupted; every process that was started is ended", "bold red")
            return INTERRUPTED
        except NEEDED as error:
            screen.say(f"the demonstration cannot be given: {error}", "bold red")
            return MISSING
        finally:
            screen.say(f"look at it: TURNWRIGHT_CONFIG={folder}/turnwright.toml .venv/bin/turnwright turns")


def is_running(pid: int) -> bool:
    """Whether a process with that id is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def relative(folder: Path) -> Path:
    """The folder as a person here would type it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


if __name__ == "__main__":
    sys.exit(main())
