"""`turnwright thread …`: one agent's thread in a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import Agent, Json, Reason, RequestId, Revision, SessionName, ThreadName, User, how
from turnwright.client.cli.permissions import permission_words
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, act_words, local
from turnwright.client.client import Client
from turnwright.client.thread import Thread
from turnwright.journal.acts import Level
from turnwright.journal.commands import Receipt
from turnwright.journal.control import ActiveTurn
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.ids import MAIN_THREAD
from turnwright.journal.shown import shown_status
from turnwright.journal.transact.overview import ThreadSeen

Words = Annotated[str, typer.Argument(metavar="TEXT", help="The material.")]
Create = Annotated[bool, typer.Option("--create", help="Begin the thread with it if there is none yet.")]
Mode = Annotated[CloseMode, typer.Option("--mode", help="Finish the queue, or cancel it.")]


class ThreadCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.show, self.pause, self.resume, self.cancel, self.inject, self.close):
            app.command(command.__name__)(command)

    def show(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        as_json: Json = False,
    ) -> None:
        """Show a thread: its pause, its active turn, its queue."""

        async def run(client: Client, screen: Screen) -> None:
            seen = await client.session(user, session).thread(agent, thread).status()
            if screen.as_json:
                screen.json(plain.thread_seen(seen))
            else:
                screen.facts(_facts(seen))

        self._runner.run(run, as_json=as_json)

    def pause(
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
        """Start no operation of a thread until it is resumed."""
        place = (user, session, agent, thread)
        self._command(place, lambda found: found.pause(**how(reason, request_id)), as_json=as_json)

    def resume(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        revision: Revision = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Lift a thread's pause, whoever set it."""
        place = (user, session, agent, thread)
        self._command(place, lambda found: found.resume(revision, **how(reason, request_id)), as_json=as_json)

    def cancel(
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
        """Cancel a thread's active turn and everything queued; it stays open."""
        place = (user, session, agent, thread)
        self._command(place, lambda found: found.cancel(**how(reason, request_id)), as_json=as_json)

    def inject(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        text: Words,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        create: Create = False,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Give a thread material that whatever runs next sees; it starts nothing."""
        place = (user, session, agent, thread)

        async def inject(found: Thread) -> Receipt:
            if not create:
                await found.status()
            return await found.inject(text, **how(reason, request_id))

        self._command(place, inject, as_json=as_json)

    def close(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        mode: Mode = "finish",
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Take no new turn on a thread."""
        place = (user, session, agent, thread)
        self._command(place, lambda found: found.close(mode, **how(reason, request_id)), as_json=as_json)

    def _command(
        self,
        place: tuple[str | None, str, str, str],
        command: Callable[[Thread], Awaitable[Receipt]],
        *,
        as_json: bool,
    ) -> None:
        async def run(client: Client, screen: Screen) -> None:
            user, session, agent, thread = place
            found = client.session(user, session).thread(agent, thread)
            receipt = await command(found)
            if screen.as_json:
                screen.json(plain.receipt(receipt))
            else:
                screen.line(f"accepted; thread {thread} of {agent} is {_state(await found.status())}")

        self._runner.run(run, as_json=as_json)


def _shown(seen: ThreadSeen, active: ActiveTurn) -> str:
    return shown_status(seen.control, seen.session, active.status)


def _state(seen: ThreadSeen) -> str:
    """Where it stands; a pause is told also of one that is closed, because it stops what is queued."""
    control = seen.control
    cause = "on hold since a turn failed" if control.pause.source == "on_failure" else "paused"
    flags = [
        f"{cause} (revision {control.pause.revision}){_by(seen, 'thread')}" if control.pause.on else "",
        f"paused with its session{_by(seen, 'session')}" if seen.session.pause.on else "",
    ]
    return "; ".join(word for word in ("closed" if control.closed else "", *flags) if word) or "open"


def _by(seen: ThreadSeen, level: Level) -> str:
    act = seen.held_by.get(level)
    return "" if act is None else f", {act_words(act)}"


def _begins(seen: ThreadSeen) -> str:
    """Where its state begins, if that is not at its first entry."""
    begins = seen.begins
    if begins is None:
        return ""
    if begins.thread == seen.key:
        return f"as it was at entry {begins.at_seq}, since entry {begins.seq} (rewound)"
    return f"as thread {begins.thread.thread} was at its entry {begins.at_seq} (forked)"


def _facts(seen: ThreadSeen) -> list[tuple[str, str]]:
    control, active = seen.control, seen.control.active
    return [
        ("thread", seen.key.thread),
        ("agent", seen.key.agent),
        ("session", seen.key.session),
        ("user", seen.key.user or ""),
        ("state", _state(seen)),
        ("active", "" if active is None else f"{active.turn_id} ({_shown(seen, active)}, step {active.step})"),
        ("permissions", f"{permission_words(control.permissions)}{', planning' if control.planning else ''}"),
        ("queued", str(control.queued)),
        ("next", "" if seen.front is None else seen.front.turn_id),
        ("entries", str(seen.seq)),
        ("begins", _begins(seen)),
        ("forks", str(seen.forks) if seen.forks else ""),
        ("last", local(seen.last_at_us)),
    ]
