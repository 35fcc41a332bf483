"""`turnwright thread fork|rewind|make-whole`: threads that begin with what one knew, and threads that go back."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import Agent, Json, Reason, RequestId, SessionName, ThreadName, User, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.journal.ids import MAIN_THREAD

At = Annotated[int | None, typer.Option("--at", min=1, help="Begin as it was after this entry; else after the last.")]
As = Annotated[str | None, typer.Option("--as", metavar="THREAD", help="The new thread's name; else one is made up.")]
Into = Annotated[
    str | None, typer.Option("--into", metavar="SESSION", help="The session of the same user it is in; else this one.")
]
To = Annotated[int, typer.Option("--to", min=1, help="Go on as it was after this entry.")]
ExpectedSeq = Annotated[
    int | None, typer.Option("--expected-seq", min=1, help="Only if this is still the thread's last entry.")
]


class ThreadForkCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.fork, self.rewind):
            app.command(command.__name__)(command)
        app.command("make-whole")(self.make_whole)

    def fork(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        at: At = None,
        name: As = None,
        into: Into = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Begin another thread with what an agent knew at an entry; nothing is copied."""

        async def run(client: Client, screen: Screen) -> None:
            origin = client.session(user, session).thread(agent, thread)
            made = await origin.fork(at, thread=name, session=into, **how(reason, request_id))
            assert made.receipt is not None
            after = "" if at is None else f" after entry {at}"
            where = f" in session {into}" if into else ""
            told = f"accepted; thread {made.key.thread} of {agent}{where} begins as {thread} was{after}"
            screen.show(plain.receipt(made.receipt), told)

        self._runner.run(run, as_json=as_json)

    def rewind(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        to: To,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        expected_seq: ExpectedSeq = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Let a thread go on as it was at an entry; its history stays."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            receipt = await found.rewind(to, expected_seq=expected_seq, **how(reason, request_id))
            told = f"accepted; thread {thread} of {agent} goes on as it was after entry {to}"
            screen.show(plain.receipt(receipt), told)

        self._runner.run(run, as_json=as_json)

    def make_whole(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Keep with a fork what it begins with, so that its origin is needed no more."""

        async def run(client: Client, screen: Screen) -> None:
            receipt = await client.session(user, session).thread(agent, thread).make_whole(**how(reason, request_id))
            screen.show(plain.receipt(receipt), f"accepted; thread {thread} of {agent} needs its origin no more")

        self._runner.run(run, as_json=as_json)
