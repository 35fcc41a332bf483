"""Where a demonstration keeps its files, for the process that shows it and for the workers it starts.

Rule: everything of one run is in one folder, made new. Folders of earlier runs go when the next one starts, unless
their process still lives: it holds a lock in there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

PARENT = Path(".turnwright")
FOLDER_VARIABLE = "DEMO_FOLDER"
MODEL_VARIABLE = "DEMO_MODEL_URL"


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one demonstration."""

    folder: Path

    @classmethod
    def of_worker(cls) -> Place:
        """The place that the process which started this worker has named."""
        return cls(Path(os.environ[FOLDER_VARIABLE]))

    @property
    def journal_file(self) -> Path:
        """The journal: what must not be lost."""
        return self.folder / "journal.db"

    @property
    def journal_url(self) -> str:
        """The journal for clients and workers."""
        return f"sqlite:///{quote(str(self.journal_file))}"

    @property
    def temporal_file(self) -> Path:
        """Temporal's data, which will be deleted."""
        return self.folder / "temporal.db"

    @property
    def shop(self) -> Path:
        """The work folder of the tools."""
        return self.folder / "shop"

    @property
    def ledger_file(self) -> Path:
        """The ledger, which no line can be taken back from."""
        return self.folder / "ledger.jsonl"

    @property
    def gates(self) -> Path:
        """Where closed gates stand."""
        return self.folder / "gates"

    def log_of(self, name: str) -> Path:
        """What a process wrote."""
        return self.folder / "logs" / f"{name}.log"


@contextmanager
def new_place(parent: Path = PARENT) -> Iterator[Place]:
    """A folder of its own, kept afterwards; what earlier demonstrations left is removed first."""
    parent.mkdir(parents=True, exist_ok=True)
    for old in sorted(parent.glob("demo-*")):
        _remove_unless_used(old)
    folder = (parent / f"demo-{datetime.now().astimezone():%Y%m%d-%H%M%S}-{os.getpid()}").resolve()
    place = Place(folder)
    for made in (folder, place.shop, place.gates, folder / "logs"):
        made.mkdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield place


def _remove_unless_used(folder: Path) -> None:
    with suppress(FileNotFoundError, BlockingIOError), (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
