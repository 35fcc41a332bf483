"""`turnwright approvals …`: the inbox of questions across all sessions, and the answers."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.answers import AnswerCommands
from turnwright.client.cli.asked import question_facts, question_table
from turnwright.client.cli.deciding import DecideCommands
from turnwright.client.cli.inbox_filters import Asked, InState, OfKind, OfTool
from turnwright.client.cli.options import After, Json, Limit
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.turn_filters import Anonymous, InSession, OfAgent, OfUser
from turnwright.client.client import Client

QuestionId = Annotated[str, typer.Argument(metavar="ID", help="The question's id.")]


class ApprovalsCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("list")(self.list_)
        app.command("show")(self.show)
        DecideCommands(self._runner).add_to(app)
        AnswerCommands(self._runner).add_to(app)

    def list_(  # noqa: PLR0913 - one for each option
        self,
        *,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        kind: OfKind = None,
        tool: OfTool = None,
        state: InState = "open",
        limit: Limit = 50,
        after: After = None,
        as_json: Json = False,
    ) -> None:
        """List questions across all sessions, the oldest first."""
        asked = Asked(session=session, user=user, anonymous=anonymous, agent=agent, kind=kind, tool=tool, state=state)

        async def run(client: Client, screen: Screen) -> None:
            page = await asked.page(client, after, limit)
            if screen.as_json:
                screen.json({"questions": [plain.question(found) for found in page.items], "next": page.next})
                return
            question_table(page.items, screen)
            if page.next is not None:
                screen.note(f"more: --after {page.next}")

        self._runner.run(run, as_json=as_json)

    def show(self, question: QuestionId, *, as_json: Json = False) -> None:
        """Show a question, whole, with the commands that answer it."""

        async def run(client: Client, screen: Screen) -> None:
            found = await client.interaction(question)
            if screen.as_json:
                screen.json(plain.question(found))
            else:
                screen.facts(question_facts(found))

        self._runner.run(run, as_json=as_json)
