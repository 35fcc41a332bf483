"""`turnwright thread import|export`: conversations from elsewhere, and for elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwright.client.bringing import Brought
from turnwright.client.cli import plain
from turnwright.client.cli.options import Agent, Json, Reason, RequestId, SessionName, ThreadName, User, how
from turnwright.client.cli.private_file import write_private
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.thread_elsewhere import TheirForm
from turnwright.journal.elsewhere import Format
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD

NOTES_SHOWN_MAX = 20
Given = Annotated[Path, typer.Argument(metavar="FILE", help="The document; - for standard input.")]
Form = Annotated[Format, typer.Option("--format", help="What the document is.", show_default=False)]
Wanted = Annotated[TheirForm, typer.Option("--format", help="Whose form it shall have.")]
TimeZone = Annotated[
    str | None,
    typer.Option("--time-zone", metavar="ZONE", help="That of times that name none, such as Europe/Berlin or +08:00."),
]
Trust = Annotated[
    bool,
    typer.Option("--trust-permissions", help="Take also what its permissions allow: rules, directories, bypass."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.")]


class ThreadElsewhereCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("import")(self.bring)
        app.command("export")(self.export)

    def bring(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        file: Given,
        *,
        form: Form,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        time_zone: TimeZone = None,
        trust_permissions: Trust = False,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Begin a thread with a conversation from elsewhere; the next turn goes on from it."""

        async def run(client: Client, screen: Screen) -> None:
            document = _read(file)
            found = client.session(user, session).thread(agent, thread)
            brought = await found.import_conversation(
                form,
                document,
                time_zone=time_zone,
                trust_permissions=trust_permissions,
                **how(reason, request_id),
            )
            if screen.as_json:
                screen.json(_plain(brought))
                return
            screen.line(f"accepted; thread {thread} of {agent} begins with {brought.messages} messages")
            for note in brought.notes[:NOTES_SHOWN_MAX]:
                screen.note(f"{note.place}: {note.text}" if note.place else note.text)
            if len(brought.notes) > NOTES_SHOWN_MAX:
                more = len(brought.notes) - NOTES_SHOWN_MAX
                screen.note(f"and {more} more notes; --json shows all, and so does the entry thread.imported")

        self._runner.run(run, as_json=as_json)

    def export(
        self,
        session: SessionName,
        agent: Agent,
        *,
        form: Wanted = "agentscope",
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        output: Output = None,
    ) -> None:
        """Write what an agent knows on a thread as another system has it."""

        async def run(client: Client, _: Screen) -> None:
            made = await client.session(user, session).thread(agent, thread).export_conversation(form)
            text = json.dumps(made, ensure_ascii=False, indent=2) + "\n"
            if output is None:
                sys.stdout.write(text)
            else:
                await write_private(_whole(text), output)

        self._runner.run(run, as_json=False)


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error


async def _whole(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


def _plain(brought: Brought) -> dict[str, Any]:
    notes = [note.model_dump() for note in brought.notes]
    return plain.receipt(brought.receipt) | {"messages": brought.messages, "notes": notes}
