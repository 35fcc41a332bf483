"""`turnwright submit`: queue a turn, and with `--follow` see it to its end."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import Json, Reason, RequestId, ThreadName, Timeout, User, how
from turnwright.client.cli.running import Runner, flush
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.watching import follow
from turnwright.client.client import Client
from turnwright.journal.commands import IfBusy
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD

Task = Annotated[str, typer.Argument(metavar="TEXT", help="The task; - reads it from standard input.")]
InSession = Annotated[str, typer.Option("--session", "-s", help="The session's id.")]
ToAgent = Annotated[str, typer.Option("--agent", "-a", help="The agent's name.")]
Create = Annotated[bool, typer.Option("--create", help="Create the session if it does not exist.")]
Busy = Annotated[IfBusy, typer.Option("--if-busy", help="What to do while the thread has a turn.")]
Failure = Annotated[
    OnFailure | None, typer.Option("--on-failure", help="From now on, what the thread does when a turn fails.")
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show what happens, and end with the answer.")]


class SubmitCommand:
    """The command with the runner it uses."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add it to an application."""
        app.command("submit")(self.submit)

    def submit(  # noqa: PLR0913 - one for each option
        self,
        task: Task,
        *,
        session: InSession,
        agent: ToAgent,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        create: Create = False,
        if_busy: Busy = "enqueue",
        on_failure: Failure = None,
        follow_it: Follow = False,
        timeout: Timeout = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Queue a turn for an agent. It is accepted once committed, whether or not a worker or Temporal is up."""

        async def run(client: Client, screen: Screen) -> None:
            if timeout is not None and not follow_it:
                raise InvalidInput("--timeout goes with --follow")
            chosen = client.session(user, session)
            text = sys.stdin.read() if task == "-" else task
            if create:
                await chosen.create(exist_ok=True)
            turn = await chosen.submit(
                text, agent=agent, thread=thread, if_busy=if_busy, on_failure=on_failure, **how(reason, request_id)
            )
            assert turn.receipt is not None
            again = " (known already)" if turn.receipt.duplicate else ""
            if screen.as_json:
                screen.json(plain.receipt(turn.receipt))
            else:
                (screen.note if follow_it else screen.line)(f"accepted as turn {turn.id}{again}")
            if follow_it:
                await flush(client, screen)
                await follow(turn, screen, timeout)

        self._runner.run(run, as_json=as_json)
