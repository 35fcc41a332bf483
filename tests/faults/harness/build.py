"""Another build of Turnwright: a copy of its code in which some words are others, for workers to run."""

import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("journal", "workflows", "activities", "client", "worker")


def make_build(folder: Path, changes: Mapping[str, tuple[str, str]]) -> Path:
    """Copy the code and change it: for each file, what stands there and what is to; returns what to import it from."""
    for package in PACKAGES:
        # With the bytecode, which holds as long as the files are as old as they were.
        shutil.copytree(ROOT / package, folder / "turnwright" / package)
    for name, (was, becomes) in changes.items():
        file = folder / "turnwright" / name
        text = file.read_text("utf-8")
        assert text.count(was) == 1, f"{name} does not say {was!r} once"
        file.write_text(text.replace(was, becomes), "utf-8")
    return folder
