"""`turnwright submit`: queue a turn, and with `--follow` see it to its end."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.budgets import (
    BudgetCostUsd,
    BudgetSteps,
    BudgetTokens,
    BudgetToolCalls,
    BudgetWallTime,
    budget_given,
)
from turnwright.client.cli.hints import agent_hint
from turnwright.client.cli.options import Json, Reason, RequestId, ThreadName, Timeout, User, how
from turnwright.client.cli.running import Runner, flush
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.watching import follow
from turnwright.client.client import Client
from turnwright.client.turn import Turn
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
        budget_steps: BudgetSteps = None,
        budget_tokens: BudgetTokens = None,
        budget_cost_usd: BudgetCostUsd = None,
        budget_wall_time: BudgetWallTime = None,
        budget_tool_calls: BudgetToolCalls = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Queue a turn for an agent. It is accepted once committed, whether or not a worker or Temporal is up."""

        async def run(client: Client, screen: Screen) -> None:
            if timeout is not None and not follow_it:
                raise InvalidInput("--timeout goes with --follow")
            budget = budget_given(budget_steps, budget_tokens, budget_cost_usd, budget_wall_time, budget_tool_calls)
            chosen = client.session(user, session)
            text = sys.stdin.read() if task == "-" else task
            if create:
                await chosen.create(exist_ok=True)
            turn = await chosen.thread(agent, thread).submit(
                text, if_busy=if_busy, on_failure=on_failure, budget=budget, **how(reason, request_id)
            )
            _accepted(turn, screen, follow_it=follow_it)
            unknown = await agent_hint(agent, client)
            if unknown is not None:
                screen.note(f"{unknown} (the turn waits; `turnwright turn cancel {turn.id}` takes it back)")
            if follow_it:
                await flush(client, screen)
                await follow(turn, screen, timeout)

        self._runner.run(run, as_json=as_json)


def _accepted(turn: Turn, screen: Screen, *, follow_it: bool) -> None:
    assert turn.receipt is not None, "it comes from a submit"
    if screen.as_json:
        screen.json(plain.receipt(turn.receipt))
        return
    again = " (known already)" if turn.receipt.duplicate else ""
    (screen.note if follow_it else screen.line)(f"accepted as turn {turn.id}{again}")
