"""`turnwright turn respond|approve|deny`: answers to what one turn asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from turnwright.client.cli.deciding import Always, AlwaysRule, Arguments, Message
from turnwright.client.cli.giving import given_object
from turnwright.client.cli.options import Json, Reason, RequestId, TurnId, how
from turnwright.client.cli.receipts import tell_receipt, tell_rule
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt
from turnwright.journal.errors import InvalidInput

Question = Annotated[str, typer.Argument(metavar="INTERACTION", help="The question's id, as `turn show` tells it.")]
OpenQuestion = Annotated[
    str | None, typer.Argument(metavar="INTERACTION", help="The question's id; not needed if the turn asks only one.")
]
Resolution = Annotated[
    str,
    typer.Argument(
        metavar="RESOLUTION",
        help="approve, deny; answer, decline; succeeded, failed; raise or fail: what its kind is answered with.",
    ),
]
Answer = Annotated[str | None, typer.Option("--answer", metavar="JSON", help="What goes with it; also @file, or -.")]


class TurnAnswerCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.respond, self.approve, self.deny):
            app.command(command.__name__)(command)

    def respond(
        self,
        turn: TurnId,
        interaction: Question,
        resolution: Resolution,
        *,
        answer: Answer = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Answer a question of a turn, of whatever kind."""

        async def command(found: Turn) -> Receipt:
            said = None if answer is None else given_object("--answer", answer)
            return await found.respond(interaction, resolution, said, **how(reason, request_id))

        self._command(turn, command, as_json=as_json)

    def approve(
        self,
        turn: TurnId,
        interaction: OpenQuestion = None,
        *,
        arguments: Arguments = None,
        always: Always = False,
        always_rule: AlwaysRule = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Let a call of a turn run."""

        async def command(found: Turn) -> Receipt:
            edited = None if arguments is None else given_object("--arguments", arguments)
            return await found.approve(
                interaction or await _only_approval(found),
                arguments=edited,
                always=always_rule or always or None,
                **how(reason, request_id),
            )

        self._command(turn, command, always=bool(always_rule or always), as_json=as_json)

    def deny(
        self,
        turn: TurnId,
        interaction: OpenQuestion = None,
        *,
        message: Message = None,
        always: Always = False,
        always_rule: AlwaysRule = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Do not let a call of a turn run."""

        async def command(found: Turn) -> Receipt:
            return await found.deny(
                interaction or await _only_approval(found),
                message,
                always=always_rule or always or None,
                **how(reason, request_id),
            )

        self._command(turn, command, always=bool(always_rule or always), as_json=as_json)

    def _command(
        self, turn: str, command: Callable[[Turn], Awaitable[Receipt]], *, always: bool = False, as_json: bool
    ) -> None:
        async def run(client: Client, screen: Screen) -> None:
            found = await client.turn(turn)
            receipt = await command(found)
            await tell_receipt(found, receipt, screen)
            if always:
                await tell_rule(client, found, receipt, screen)

        self._runner.run(run, as_json=as_json)


async def _only_approval(turn: Turn) -> str:
    """The approval that the turn waits for.

    Raises:
        InvalidInput: it waits for none, or for several.
    """
    asked = [q.interaction_id for q in (await turn.status()).asked if q.kind == "approval"]
    if len(asked) == 1:
        return asked[0]
    if not asked:
        raise InvalidInput(f"turn {turn.id} asks for no approval; see `turnwright turn why {turn.id}`")
    raise InvalidInput(f"turn {turn.id} asks for {len(asked)} approvals; name one: {', '.join(asked)}")
