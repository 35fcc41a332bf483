"""`turnwright session budget|erase|delete`: what an administrator sees and changes of a session."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from turnwright.client.cli import budgets, plain
from turnwright.client.cli.budgets import CostUsd, Steps, Tokens, ToolCalls, WallTime
from turnwright.client.cli.options import Forever, Json, Reason, RequestId, SessionName, User, how, nothing_erased
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.journal.counted import counted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.store_delete import Deleted

Seq = Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The entry's number in the session's log.")]
MakeForksWhole = Annotated[
    bool, typer.Option("--make-forks-whole", help="Let forks in other sessions keep first what they begin with.")
]


class SessionAdminCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.budget, self.erase, self.delete):
            app.command(command.__name__)(command)

    def budget(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        *,
        user: User = None,
        steps: Steps = None,
        tokens: Tokens = None,
        cost_usd: CostUsd = None,
        wall_time: WallTime = None,
        tool_calls: ToolCalls = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Show what all threads of a session may use together and have used, or change what they may."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session)
            wanted = budgets.budget_given(steps, tokens, cost_usd, wall_time, tool_calls)
            if wanted is None:
                await _show_budget(found, screen)
                return
            receipt = await found.set_budget(wanted, keep=True, **how(reason, request_id))
            now = (await found.budget()).budget
            screen.show(plain.receipt(receipt), f"accepted; session {session} may use {budgets.budget_words(now)}")

        self._runner.run(run, as_json=as_json)

    def erase(
        self,
        session: SessionName,
        seq: Seq,
        *,
        user: User = None,
        yes: Forever = False,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Erase the content of an entry of a session's own log, such as its title (entry 1), for good; say --yes."""

        async def run(client: Client, screen: Screen) -> None:
            if not yes:
                raise nothing_erased(seq)
            receipt = await client.session(user, session).erase(seq, **how(reason, request_id))
            screen.show(plain.receipt(receipt), f"accepted; entry {seq} of session {session} is erased")

        self._runner.run(run, as_json=as_json)

    def delete(
        self,
        session: SessionName,
        *,
        user: User = None,
        yes: Forever = False,
        make_forks_whole: MakeForksWhole = False,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Erase a session with everything in it, for good; say --yes."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session)
            if not yes:
                seen = await found.status()
                raise InvalidInput(
                    f"session {session} has {counted(seen.threads, 'thread')} and {seen.last_position} entries; "
                    "nothing was deleted, and nothing would bring it back: say --yes"
                )
            _show_deleted(
                session, await found.delete(make_forks_whole=make_forks_whole, **how(reason, request_id)), screen
            )

        self._runner.run(run, as_json=as_json)


async def _show_budget(found: Session, screen: Screen) -> None:
    spending = await found.budget()
    if screen.as_json:
        screen.json(plain.session_key(found.key) | plain.session_spending(spending))
    elif spending.budget is None:
        screen.line(f"session {found.key.session} may use as much as it likes; what it uses is not counted")
    else:
        screen.table(budgets.COLUMNS, [budgets.row("session", spending.budget, spending.used)], "")


def _show_deleted(session: str, deleted: Deleted, screen: Screen) -> None:
    if screen.as_json:
        screen.json({"receipt": asdict(deleted.receipt), "stores": deleted.stores})
        return
    screen.line(f"accepted; session {session} is deleted{' (it was already)' if deleted.receipt.duplicate else ''}")
    rows = [
        (store, ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing was left")
        for store, counts in deleted.stores.items()
    ]
    screen.table(("store", "erased"), rows, "")
