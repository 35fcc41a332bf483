"""The demonstration, as `make demo` plays it: real model, real workers, real Temporal."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from examples.demo.__main__ import GONE
from examples.demo.scenes import SCENES
from examples.local_model import installed

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 480
PROMISES = [*(promised for scene in SCENES for promised in scene.promises), GONE]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(DEADLINE_S + 60),
    pytest.mark.skipif(not installed(), reason="the local model is not installed: make install"),
]


def start(folder: Path) -> subprocess.Popen[str]:
    """The demonstration in an empty folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TURNWRIGHT_", "TEMPORAL_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "examples.demo"],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def left_of(folder: Path) -> list[str]:
    """The command lines of processes that know the folder, by their arguments or their environment."""
    return [
        " ".join(arguments)
        for arguments, environment in processes()
        if str(folder) in " ".join([*arguments, *environment])
    ]


def processes() -> Iterator[tuple[list[str], list[str]]]:
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                yield words(process / "cmdline"), words(process / "environ")
            except OSError:  # it ended, or it is somebody else's
                continue


def words(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="replace").split("\0")


def until_nothing_is_left_of(folder: Path) -> None:
    """Wait for children of a killed process, which the kernel kills a moment later."""
    deadline_s = time.monotonic() + 20
    while left := left_of(folder):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.05)


def unwrapped(output: str) -> str:
    """The first columns of the table's rows, each on one line."""
    cells = [line.split("│")[1].strip() for line in output.splitlines() if line.startswith("│")]
    return " ".join(cells)


def test_every_promise_of_the_demonstration_is_kept_and_no_process_is_left(tmp_path: Path) -> None:
    with start(tmp_path) as demo:
        overdue = Timer(DEADLINE_S, demo.kill)
        overdue.start()
        output, _ = demo.communicate()
        overdue.cancel()
    assert demo.returncode == 0, output
    assert f"{len(PROMISES)} of {len(PROMISES)} promises kept" in output
    shown = unwrapped(output)
    assert [promised for promised in PROMISES if promised not in shown] == []
    assert len(re.findall(r"│ yes │$", output, re.MULTILINE)) == len(PROMISES)
    assert left_of(tmp_path) == []
    [kept] = (tmp_path / ".turnwright").glob("demo-*")
    assert (kept / "journal.db").exists()


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_a_demonstration_that_is_ended_early_leaves_no_process(
    tmp_path: Path, number: signal.Signals, exit_code: int
) -> None:
    said: list[str] = []
    with start(tmp_path) as demo:
        try:
            assert demo.stdout is not None
            for line in demo.stdout:  # until workers, model and Temporal run and a turn is under way
                said.append(line)
                if "asks the model" in line:
                    break
            demo.send_signal(number)
            rest, _ = demo.communicate(timeout=60)
        finally:
            demo.kill()
    assert demo.returncode == exit_code, "".join(said) + rest
    assert "Traceback" not in rest
    until_nothing_is_left_of(tmp_path)
