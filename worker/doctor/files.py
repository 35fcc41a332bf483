"""Files and folders that settings name: who may read those of keys, and whether the others can be used."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from turnwright.journal.drivers import file_of_keys
from turnwright.journal.errors import InvalidInput
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.log_rules import LogRulesFile
from turnwright.worker.settings import Settings

FREE_BYTES_MIN: Final = 1_000_000_000


async def look_at_files(settings: Settings) -> AsyncIterator[Finding]:
    """A finding for each that is named."""
    for finding in await asyncio.to_thread(lambda: tuple(_look(settings))):
        yield finding


def _look(settings: Settings) -> Iterator[Finding]:
    try:
        of_journal = file_of_keys(settings.journal_url)
    except InvalidInput:  # which the look at the journal tells
        of_journal = None
    if of_journal is not None and of_journal.exists():
        yield _keys("journal keys", of_journal)
    if settings.temporal_keys is not None and settings.temporal_keys.exists():
        yield _keys("temporal keys", settings.temporal_keys)
    if settings.log_rules is not None:
        yield _rules(settings.log_rules)
    if settings.transcripts is not None:
        yield _transcripts(settings.transcripts)


def _keys(about: str, file: Path) -> Finding:
    mode = file.stat().st_mode
    if mode & stat.S_IRWXO:
        said = f"everybody on this machine may read {file} ({stat.filemode(mode)})"
        return doubtful(about, said, "let only the user of workers and gateways read it: `chmod 600`")
    return fine(about, f"in {file}")


def _rules(file: Path) -> Finding:
    _, wrong = LogRulesFile(file).look()
    if wrong:
        return doubtful("log rules", wrong, "mend the file; until then processes log by the rules of before")
    return fine("log rules", f"in {file}" if file.exists() else f"{file} is not there: nothing is left out")


def _transcripts(folder: Path) -> Finding:
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return broken("transcripts", f"nothing can be written into {folder}", "give the workers' user the right to")
    free = shutil.disk_usage(there).free
    said = f"{free / 1_000_000_000:,.1f} GB free in {folder}"
    return doubtful("transcripts", said, "make room") if free < FREE_BYTES_MIN else fine("transcripts", said)
