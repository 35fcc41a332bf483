"""`turnwright transcripts`: sessions as files of JSON lines."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.screen import Screen
from turnwright.client.opening import open_journal
from turnwright.journal.counted import counted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.store_transcripts import TranscriptWriter
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation
from turnwright.worker.logs import configure_logs
from turnwright.worker.transcripts import Transcribing

Folder = Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="Where to; it is made if need be.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens next, until interrupted.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def transcripts(folder: Folder, *, follow: Follow = False, as_json: Json = False) -> None:
        """Write all sessions as files of JSON lines: everything that happened, and what models see."""
        screen = Screen(as_json=as_json)
        with told(screen):
            settings = invocation.settings()
            configure_logs(settings.log_format, "warning", sys.stderr)
            asyncio.run(_write(settings.journal_url, folder, screen, follow=follow))


async def _write(url: str, folder: Path, screen: Screen, *, follow: bool) -> None:
    journal = await open_journal(url)
    try:
        writer = TranscriptWriter(journal, folder)
        if not writer.take():
            raise InvalidInput(f"another process writes transcripts into {folder}; it goes on with them")
        try:
            written = await writer.round()
        finally:
            writer.leave()
        said = f"transcripts in {folder}: {counted(written, 'session')} looked at"
        screen.show({"folder": str(folder), "sessions": written}, said)
        if follow:
            following = Transcribing(journal, folder)
            await following.start()
            try:
                await asyncio.Event().wait()
            finally:
                await following.stop()
    finally:
        await journal.close()
