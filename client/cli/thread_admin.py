"""`turnwright thread state|clear|compact|permissions|budget`: what an administrator sees and changes of a thread."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from turnwright.client.access import HowElse
from turnwright.client.cli import budgets, plain
from turnwright.client.cli.budgets import CostUsd, Steps, Tokens, ToolCalls, WallTime
from turnwright.client.cli.giving import given_object
from turnwright.client.cli.options import Agent, AtSeq, Json, Reason, RequestId, SessionName, ThreadName, User, how
from turnwright.client.cli.permissions import permission_words, show_permissions
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.states import show_state
from turnwright.client.client import Client
from turnwright.client.thread import Thread
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD
from turnwright.journal.state_parts import Mode

Scope = Literal["thread", "turns"]
Place = tuple[str | None, str, str, str]
Set = Annotated[
    str | None,
    typer.Option("--set", metavar="JSON", help="Replace these fields, whole: a JSON object, @file, or - for input."),
]
ExpectedSeq = Annotated[
    int | None, typer.Option("--expected-seq", min=0, help="Only if this is still the thread's last entry.")
]
ToMode = Annotated[Mode | None, typer.Option("--mode", help="The new mode.")]
Allow = Annotated[list[str] | None, typer.Option("--allow", metavar="RULE", help="Add a rule; may be repeated.")]
AskFirst = Annotated[list[str] | None, typer.Option("--ask", metavar="RULE", help="Add a rule; may be repeated.")]
Deny = Annotated[list[str] | None, typer.Option("--deny", metavar="RULE", help="Add a rule; may be repeated.")]
Remove = Annotated[
    list[str] | None,
    typer.Option("--remove", metavar="[KIND ]RULE", help="Take a rule away, wherever it stands or of this kind."),
]
Directory = Annotated[
    list[str] | None, typer.Option("--dir", metavar="PATH", help="The working directories, all of them.")
]
OfScope = Annotated[Scope, typer.Option("--scope", help="The thread's, or of each turn without one of its own.")]


class ThreadAdminCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.state, self.clear, self.compact, self.permissions, self.budget):
            app.command(command.__name__)(command)

    def state(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        at: AtSeq = None,
        set_: Set = None,
        expected_seq: ExpectedSeq = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Show what an agent knows on a thread, or with --set replace fields of it."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            if set_ is None:
                state = await found.state(at)
                screen.json(state.model_dump(mode="json")) if screen.as_json else show_state(state, screen)
                return
            if expected_seq is None or at is not None:
                raise InvalidInput("--set goes with --expected-seq (`as of`, as the state was shown), not with --at")
            if not reason:
                raise InvalidInput("--set goes with --reason: why, for the records")
            changes = given_object("--set", set_)
            also: HowElse = {} if request_id is None else {"request_id": request_id}
            receipt = await found.update_state(changes, expected_seq=expected_seq, reason=reason, **also)
            screen.show(plain.receipt(receipt), f"accepted; {_name(found)} is at entry {receipt.seq}")

        self._runner.run(run, as_json=as_json)

    def clear(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        expected_seq: ExpectedSeq = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Begin a thread's conversation anew; its history stays."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            receipt = await found.clear_context(expected_seq=expected_seq, **how(reason, request_id))
            told = f"the conversation of {_name(found)} begins anew; its history stays"
            screen.show(plain.receipt(receipt), f"accepted; {told}")

        self._runner.run(run, as_json=as_json)

    def compact(
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
        """Make a thread's conversation shorter with its next model call; its history stays."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            receipt = await found.compact(**how(reason, request_id))
            told = f"the next model call of {_name(found)} begins with a shorter conversation"
            screen.show(plain.receipt(receipt), f"accepted; {told}")

        self._runner.run(run, as_json=as_json)

    def permissions(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        mode: ToMode = None,
        allow: Allow = None,
        ask: AskFirst = None,
        deny: Deny = None,
        remove: Remove = None,
        directory: Directory = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Show what an agent may do on a thread unasked, or change it."""
        place = (user, session, agent, thread)
        if mode is None and not (allow or ask or deny or remove or directory):
            self._show_permissions(place, as_json=as_json)
            return

        async def run(client: Client, screen: Screen) -> None:
            found = _found(client, place)
            receipt = await found.set_permissions(
                mode=mode,
                allow=allow or (),
                ask=ask or (),
                deny=deny or (),
                remove=remove or (),
                working_directories=directory or None,
                **how(reason, request_id),
            )
            gone = f"{', '.join(remove)} taken away; " if remove else ""
            now = "" if screen.as_json else permission_words(await found.permissions())
            screen.show(plain.receipt(receipt), f"accepted; {gone}{_name(found)} has {now}")

        self._runner.run(run, as_json=as_json)

    def budget(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        steps: Steps = None,
        tokens: Tokens = None,
        cost_usd: CostUsd = None,
        wall_time: WallTime = None,
        tool_calls: ToolCalls = None,
        scope: OfScope = "thread",
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Show what a thread and its turns may use and have used, or change what they may."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            wanted = budgets.budget_given(steps, tokens, cost_usd, wall_time, tool_calls)
            if wanted is None:
                await _show_budget(found, screen)
                return
            receipt = await found.set_budget(wanted, scope=scope, keep=True, **how(reason, request_id))
            now = await found.budget()
            whose, may = (
                (_name(found), now.budget) if scope == "thread" else (f"each turn of {_name(found)}", now.turns)
            )
            screen.show(plain.receipt(receipt), f"accepted; {whose} may use {budgets.budget_words(may)}")

        self._runner.run(run, as_json=as_json)

    def _show_permissions(self, place: Place, *, as_json: bool) -> None:
        async def run(client: Client, screen: Screen) -> None:
            found = _found(client, place)
            permissions = await found.permissions()
            if screen.as_json:
                screen.json(plain.thread_key(found.key) | {"permissions": permissions.model_dump(mode="json")})
            else:
                show_permissions(permissions, screen)

        self._runner.run(run, as_json=as_json)


def _found(client: Client, place: Place) -> Thread:
    user, session, agent, thread = place
    return client.session(user, session).thread(agent, thread)


def _name(found: Thread) -> str:
    return f"thread {found.key.thread} of {found.key.agent}"


async def _show_budget(found: Thread, screen: Screen) -> None:
    spending = await found.budget()
    if screen.as_json:
        screen.json(plain.thread_key(found.key) | plain.thread_spending(spending))
    else:
        screen.table(budgets.COLUMNS, budgets.thread_rows(spending), "")
