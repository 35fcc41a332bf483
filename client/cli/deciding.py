"""`turnwright approvals approve|deny`: whether calls may run."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli.answering import Decision, Give, Ids, Meant, answer
from turnwright.client.cli.bulk import MOST, All, Most, Yes
from turnwright.client.cli.giving import given_object
from turnwright.client.cli.inbox_filters import Asked, OfTool
from turnwright.client.cli.options import Json, Reason, RequestId, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.turn_filters import Anonymous, InSession, OfAgent, OfUser
from turnwright.journal.errors import InvalidInput

Arguments = Annotated[
    str | None,
    typer.Option("--arguments", metavar="JSON", help="What the call is to run with instead; also @file, or -."),
]
Always = Annotated[
    bool, typer.Option("--always", help="So from now on: add the first suggested rule, for the whole thread.")
]
AlwaysRule = Annotated[
    str | None, typer.Option("--always-rule", metavar="RULE", help="So from now on: add this rule instead.")
]
Message = Annotated[str | None, typer.Option("--message", help="What the model is told.")]


class DecideCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("approve")(self.approve)
        app.command("deny")(self.deny)

    def approve(  # noqa: PLR0913 - one for each option
        self,
        ids: Ids = None,
        *,
        arguments: Arguments = None,
        always: Always = False,
        always_rule: AlwaysRule = None,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        tool: OfTool = None,
        all_: All = False,
        yes: Yes = False,
        limit: Most = MOST,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Let calls run: those that are named, or with --yes all that the filters find."""
        asked = Asked(session=session, user=user, anonymous=anonymous, agent=agent, tool=tool)
        meant = Meant(ids=ids or (), asked=asked, all_=all_, yes=yes, limit=limit)

        def begin() -> Give:
            edited = None if arguments is None else given_object("--arguments", arguments)
            if edited is not None and len(meant.ids) != 1:
                raise InvalidInput("--arguments goes with the id of one question")
            return lambda turn, question, said: turn.approve(
                question.interaction_id, arguments=edited, always=always_rule or always or None, **said
            )

        decision = Decision(verb="approve", kind="approval", begin=begin, always=bool(always_rule or always))
        answer(self._runner, meant, decision, how(reason, request_id), as_json=as_json)

    def deny(  # noqa: PLR0913 - one for each option
        self,
        ids: Ids = None,
        *,
        message: Message = None,
        always: Always = False,
        always_rule: AlwaysRule = None,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        tool: OfTool = None,
        all_: All = False,
        yes: Yes = False,
        limit: Most = MOST,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Do not let calls run: those that are named, or with --yes all that the filters find."""
        asked = Asked(session=session, user=user, anonymous=anonymous, agent=agent, tool=tool)
        meant = Meant(ids=ids or (), asked=asked, all_=all_, yes=yes, limit=limit)

        def begin() -> Give:
            return lambda turn, question, said: turn.deny(
                question.interaction_id, message, always=always_rule or always or None, **said
            )

        decision = Decision(verb="deny", kind="approval", begin=begin, always=bool(always_rule or always))
        answer(self._runner, meant, decision, how(reason, request_id), as_json=as_json)
