"""`turnwright turns`: which turns there are; its commands act on many."""

from __future__ import annotations

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import After, Json, Limit
from turnwright.client.cli.running import Runner, tell
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.turn_filters import Anonymous, Chosen, InPhase, InSession, OfAgent, OfThread, OfUser, Shown
from turnwright.client.cli.turn_rows import turn_table
from turnwright.client.cli.turns_bulk import VERBS, bulk
from turnwright.client.client import Client
from turnwright.journal.errors import InvalidInput
from turnwright.journal.transact.listing import Page, TurnSeen


class TurnsCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add the group to an application; without a command it lists."""
        group = typer.Typer()
        group.callback(invoke_without_command=True)(self.turns)
        group.command("list")(self.list_)
        for verb in VERBS:
            group.command(verb.name, help=verb.about)(bulk(self._runner, verb))
        app.add_typer(group, name="turns")

    def turns(  # noqa: PLR0913 - one for each option
        self,
        context: typer.Context,
        *,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        thread: OfThread = None,
        phase: InPhase = None,
        status: Shown = None,
        limit: Limit = 50,
        after: After = None,
        as_json: Json = False,
    ) -> None:
        """List turns, newest first, or control many of them at once."""
        if context.invoked_subcommand is not None:
            _refuse_options(context, as_json=as_json)
            return
        self.list_(
            session=session,
            user=user,
            anonymous=anonymous,
            agent=agent,
            thread=thread,
            phase=phase,
            status=status,
            limit=limit,
            after=after,
            as_json=as_json,
        )

    def list_(  # noqa: PLR0913 - one for each option
        self,
        *,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        thread: OfThread = None,
        phase: InPhase = None,
        status: Shown = None,
        limit: Limit = 50,
        after: After = None,
        as_json: Json = False,
    ) -> None:
        """List turns, newest first."""
        chosen = Chosen(
            session=session,
            user=user,
            anonymous=anonymous,
            agent=agent,
            thread=thread,
            status=status,
            phases=tuple(phase or ()),
        )

        async def run(client: Client, screen: Screen) -> None:
            _show(await chosen.page(client, after, limit), screen)

        self._runner.run(run, as_json=as_json)


def _refuse_options(context: typer.Context, *, as_json: bool) -> None:
    """Options that the command behind them would not see, so that it would act on more than was asked for."""
    sources = [context.get_parameter_source(name) for name in context.params]
    if any(source is not None and source.name == "COMMANDLINE" for source in sources):
        error = InvalidInput(f"give the options behind the command: turnwright turns {context.invoked_subcommand} …")
        raise typer.Exit(tell(error, Screen(as_json=as_json)))


def _show(page: Page[TurnSeen], screen: Screen) -> None:
    if screen.as_json:
        screen.json({"turns": [plain.turn_seen(seen) for seen in page.items], "next": page.next})
        return
    turn_table(page.items, screen, none="there are none among the newest" if page.next else "there are no turns")
    if page.next is not None:
        screen.note(f"more: --after {page.next}")
