"""`turnwright session …`: sessions, and what is in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import After, Json, Limit, Reason, RequestId, Revision, SessionName, User, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, act_words, local
from turnwright.client.cli.turn_filters import Anonymous, OfUser, user_wanted
from turnwright.client.cli.unreadable import UNREADABLE, note_unreadable
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.journal.commands import Receipt
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen

Title = Annotated[str | None, typer.Option("--title", help="What people call it.")]
NewTitle = Annotated[str, typer.Argument(metavar="TITLE", help="What people call it.")]
ExistOk = Annotated[bool, typer.Option("--exist-ok", help="An existing session is no error, and stays as it is.")]
Mode = Annotated[CloseMode, typer.Option("--mode", help="Finish the queues, or cancel them.")]
THREADS_SHOWN_MAX = 50


class SessionCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("list")(self.list_)
        for command in (self.create, self.show, self.title, self.pause, self.resume, self.cancel, self.close):
            app.command(command.__name__)(command)

    def create(
        self,
        session: SessionName,
        *,
        user: User = None,
        title: Title = None,
        exist_ok: ExistOk = False,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Begin a session."""
        said = how(None, request_id)
        self._command(
            user, session, lambda found: found.create(title=title, exist_ok=exist_ok, **said), as_json=as_json
        )

    def list_(
        self,
        *,
        user: OfUser = None,
        anonymous: Anonymous = False,
        limit: Limit = 50,
        after: After = None,
        as_json: Json = False,
    ) -> None:
        """List sessions, newest first."""

        async def run(client: Client, screen: Screen) -> None:
            page = await client.sessions(user=user_wanted(user, anonymous=anonymous), after=after, limit=limit)
            if screen.as_json:
                screen.json({"sessions": [plain.session_seen(seen) for seen in page.items], "next": page.next})
                return
            columns = ("session", "user", "state", "title", "threads", "active", "queued", "last")
            screen.table(columns, [_row(seen) for seen in page.items], "there are no sessions")
            note_unreadable(page.items, screen)
            if page.next is not None:
                screen.note(f"more: --after {page.next}")

        self._runner.run(run, as_json=as_json)

    def show(self, session: SessionName, *, user: User = None, as_json: Json = False) -> None:
        """Show a session and its threads."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session)
            seen, page = await found.status(), await found.threads(limit=THREADS_SHOWN_MAX)
            if screen.as_json:
                threads = [plain.thread_seen(thread) for thread in page.items]
                screen.json(plain.session_seen(seen) | {"thread_list": threads, "next": page.next})
                return
            screen.facts(_facts(seen))
            rows = [_thread_row(thread) for thread in page.items]
            screen.table(("agent", "thread", "pause", "active", "queued", "last"), rows, "it has no threads yet")
            note_unreadable(page.items, screen)

        self._runner.run(run, as_json=as_json)

    def title(
        self,
        session: SessionName,
        title: NewTitle,
        *,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Say what people call a session; an empty text takes its title away."""
        said = how(reason, request_id)
        did = f"it is called {title}" if title else "it has no title"
        self._command(user, session, lambda found: found.set_title(title or None, **said), did=did, as_json=as_json)

    def pause(
        self,
        session: SessionName,
        *,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Start no operation on any thread until the session is resumed."""
        self._command(user, session, lambda found: found.pause(**how(reason, request_id)), as_json=as_json)

    def resume(
        self,
        session: SessionName,
        *,
        user: User = None,
        revision: Revision = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Lift a session's pause."""
        self._command(user, session, lambda found: found.resume(revision, **how(reason, request_id)), as_json=as_json)

    def cancel(
        self,
        session: SessionName,
        *,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Cancel every turn that was queued before this; the session stays open."""
        did = "every turn that was queued in it before is cancelled"
        self._command(user, session, lambda found: found.cancel(**how(reason, request_id)), did=did, as_json=as_json)

    def close(
        self,
        session: SessionName,
        *,
        user: User = None,
        mode: Mode = "finish",
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Take no new turn anywhere in a session."""
        self._command(user, session, lambda found: found.close(mode, **how(reason, request_id)), as_json=as_json)

    def _command(
        self,
        user: str | None,
        session: str,
        command: Callable[[Session], Awaitable[Receipt]],
        *,
        did: str = "",
        as_json: bool,
    ) -> None:
        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session)
            receipt = await command(found)
            if screen.as_json:
                screen.json(plain.receipt(receipt))
            elif receipt.status == "rejected":
                screen.line(f"session {session} exists already")
            else:
                seen = await found.status()
                state = f"{'stays' if did else 'is'} {plain.session_state(seen.control)}"
                screen.line(f"accepted; session {session} {state}{': ' if did else ''}{did}")

        self._runner.run(run, as_json=as_json)


def _row(seen: SessionSeen) -> tuple[str, ...]:
    counts = (str(seen.threads), str(seen.active), str(seen.queued))
    state = UNREADABLE if seen.unreadable else plain.session_state(seen.control)
    return (
        seen.key.session, seen.key.user or "", state, seen.control.title or "", *counts, local(seen.last_at_us),
    )  # fmt: skip


def _thread_row(seen: ThreadSeen) -> tuple[str, ...]:
    pause = seen.control.pause.source if seen.control.pause.on else ""
    active = UNREADABLE if seen.unreadable else plain.head_of(seen.control) or ""
    return seen.key.agent, seen.key.thread, pause, active, str(seen.control.queued), local(seen.last_at_us)


def _facts(seen: SessionSeen) -> list[tuple[str, str]]:
    control = seen.control
    act = seen.held_by.get("session")
    by = "" if act is None else f", {act_words(act)}"
    paused = f" (revision {control.pause.revision}){by}" if control.pause.on else ""
    return [
        ("session", seen.key.session),
        ("user", seen.key.user or ""),
        ("title", control.title or ""),
        ("summary", control.summary),
        ("state", f"{plain.session_state(control)}{paused}"),
        ("created", local(seen.created_us)),
        ("last", local(seen.last_at_us)),
        ("threads", str(seen.threads)),
        ("turns", f"{seen.active} active, {seen.queued} queued"),
    ]
