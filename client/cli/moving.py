"""`turnwright export` and `turnwright import`: a session as a file."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwright.client.cli.options import Json, Reason, SessionName, User, how
from turnwright.client.cli.private_file import write_private
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.journal.counted import counted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.store_import import Imported

To = Annotated[Path | None, typer.Option("--output", "-o", dir_okay=False, help="The file; what it holds is replaced.")]
From = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="What `export` wrote.")]
AsSession = Annotated[str | None, typer.Option("--as-session", help="The session's id here; else the one it had.")]
AsUser = Annotated[str | None, typer.Option("--user", "-u", help="Whose it is to be; else whose it was.")]
Anonymous = Annotated[bool, typer.Option("--anonymous", help="It is to be the anonymous user's.")]
GoOn = Annotated[bool, typer.Option("--go-on", help="Turns that have not ended go on; else the session is paused.")]


class MovingCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to the application."""
        app.command("export")(self.export)
        app.command("import")(self.import_)

    def export(self, session: SessionName, *, to: To = None, user: User = None, as_json: Json = False) -> None:
        """Write a session with all that is in it as lines of JSON, to a file or to standard output."""

        async def run(client: Client, screen: Screen) -> None:
            parts = client.session(user, session).export()
            if to is None:
                if as_json:
                    raise InvalidInput("--json says what was written to a file; give one with --output")
                await _pipe(parts)
                return
            size = await write_private(parts, to)
            screen.show({"file": str(to), "bytes": size}, f"session {session} is in {to}: {size:,} bytes")

        self._runner.run(run, as_json=as_json)

    def import_(
        self,
        file: From,
        *,
        as_session: AsSession = None,
        user: AsUser = None,
        anonymous: Anonymous = False,
        go_on: GoOn = False,
        reason: Reason = None,
        as_json: Json = False,
    ) -> None:
        """Take in a session that was exported: all of it or nothing, and once however often it is asked for."""

        async def run(client: Client, screen: Screen) -> None:
            if anonymous and user is not None:
                raise InvalidInput("--user and --anonymous exclude each other")
            whose = None if anonymous else ... if user is None else user
            done = await client.import_session(file, user=whose, session_id=as_session, go_on=go_on, **how(reason))
            screen.show(_plain(done), _told(done))

        self._runner.run(run, as_json=as_json)


async def _pipe(parts: AsyncIterator[bytes]) -> None:
    async for part in parts:
        await asyncio.to_thread(sys.stdout.buffer.write, part)
    sys.stdout.buffer.flush()


def _plain(done: Imported) -> dict[str, Any]:
    return {
        "tenant": done.key.tenant,
        "user": done.key.user,
        "session": done.key.session,
        "sha256": done.digest,
        **done.counts,
        "unfinished": done.unfinished,
        "paused": done.paused,
        "duplicate": done.duplicate,
    }


def _told(done: Imported) -> str:
    session = f"session {done.key.session}"
    if done.duplicate:
        return f"{session} is there already, with all that is in the file; nothing was changed"
    threads = counted(done.counts["threads"] - 1, "thread")
    said = f"imported; {session} has {threads} and {done.counts['entries']:,} entries"
    if not done.unfinished:
        return said
    turns = counted(done.unfinished, "turn")
    whose = "" if done.key.user is None else f" -u {done.key.user}"
    then = f"it is paused: `turnwright session resume {done.key.session}{whose}`" if done.paused else "they go on"
    return f"{said}, {turns} not ended; {then}"
