"""`turnwright thread memory`: what an agent remembers on a thread, in every request."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.giving import given_text
from turnwright.client.cli.options import Agent, Json, Reason, RequestId, SessionName, ThreadName, User, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.journal.ids import MAIN_THREAD

Set = Annotated[
    str | None, typer.Option("--set", metavar="TEXT", help="Replace it: by this text, @file, or - for standard input.")
]
ExpectedRevision = Annotated[
    int | None, typer.Option("--expected-revision", min=0, help="Only if it is still at this revision.")
]


class ThreadMemoryCommands:
    """The command with the runner it uses."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add it to a group."""
        app.command("memory")(self.memory)

    def memory(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        set_: Set = None,
        expected_revision: ExpectedRevision = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Show what an agent remembers on a thread, or with --set replace it."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            if set_ is None:
                memory = await found.memory()
                told = f"revision {memory.revision}\n{memory.document}" if memory.revision else "nothing is remembered"
                screen.show(plain.thread_key(found.key) | {"memory": memory.model_dump(mode="json")}, told)
                return
            said = how(reason, request_id)
            receipt = await found.write_memory(given_text(set_), expected_revision=expected_revision, **said)
            screen.show(plain.receipt(receipt), f"accepted; {agent} remembers it with the next model call")

        self._runner.run(run, as_json=as_json)
