"""`turnwright turns`: which turns there are."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import After, Json, Limit
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, local
from turnwright.client.client import Client
from turnwright.journal.durations import human
from turnwright.journal.errors import InvalidInput
from turnwright.journal.shown import PHASES, ShownStatus
from turnwright.journal.transact.listing import Page, TurnSeen
from turnwright.journal.turn_status import Phase

ID_CHARACTERS_MIN = 10
InSession = Annotated[str | None, typer.Option("--session", "-s", help="Only this session's (of --user).")]
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user's.")]
Anonymous = Annotated[bool, typer.Option("--anonymous", help="Only the anonymous user's.")]
OfAgent = Annotated[str | None, typer.Option("--agent", "-a", help="Only this agent's.")]
OfThread = Annotated[str | None, typer.Option("--thread", "-t", help="With --session, only threads of this name.")]
InPhase = Annotated[
    list[str] | None,
    typer.Option("--phase", metavar="|".join(PHASES), help="Only turns in this phase; may be repeated."),
]
Shown = Annotated[ShownStatus | None, typer.Option("--status", help="Only turns that are shown so.")]


class TurnsCommand:
    """The command with the runner it uses."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add it to an application."""
        app.command("turns")(self.turns)

    def turns(  # noqa: PLR0913 - one for each option
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

        async def run(client: Client, screen: Screen) -> None:
            if thread is not None and session is None:
                raise InvalidInput("--thread goes with --session")
            page = await client.turns(
                None if session is None else client.session(user, session),
                user=user_wanted(user, anonymous=anonymous),
                agent=agent,
                thread=thread,
                phases=phases_wanted(phase or ()),
                status=status,
                after=after,
                limit=limit,
            )
            _show(page, screen)

        self._runner.run(run, as_json=as_json)


def user_wanted(user: str | None, *, anonymous: bool) -> str | EllipsisType | None:
    """Whose: one user's, the anonymous one's (None) or everybody's (…).

    Raises:
        InvalidInput: both are given.
    """
    if user is not None and anonymous:
        raise InvalidInput("--user and --anonymous exclude each other")
    return user if user is not None else None if anonymous else ...


def phases_wanted(names: Sequence[str]) -> tuple[Phase, ...]:
    """The phases of these names; all of them when none is given.

    Raises:
        InvalidInput: one is no phase.
    """
    unknown = [name for name in names if name not in PHASES]
    if unknown:
        raise InvalidInput(f"--phase {unknown[0]} is none of {', '.join(PHASES)}")
    return tuple(phase for phase in PHASES if not names or phase in names)


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Each id cut to the length at which all of these still differ."""
    longest = max(map(len, ids), default=0)
    length = next(
        (n for n in range(ID_CHARACTERS_MIN, longest) if len({name[:n] for name in ids}) == len(set(ids))), longest
    )
    return {name: name[:length] for name in ids}


def _show(page: Page[TurnSeen], screen: Screen) -> None:
    if screen.as_json:
        screen.json({"turns": [plain.turn_seen(seen) for seen in page.items], "next": page.next})
        return
    names = shortened([seen.status.turn_id for seen in page.items])
    rows = [_row(seen, names[seen.status.turn_id]) for seen in page.items]
    screen.table(("turn", "status", "agent", "thread", "session", "user", "queued", "took"), rows, "there are no turns")
    if page.next is not None:
        screen.note(f"more: --after {page.next}")


def _row(seen: TurnSeen, name: str) -> tuple[str, ...]:
    status, key = seen.status, seen.key
    took = (
        "" if status.ended_at_us is None else human(status.ended_at_us - (status.started_at_us or status.ended_at_us))
    )
    shown = f"{seen.shown} ({status.code})" if seen.shown == "failed" and status.code else seen.shown
    return name, shown, key.agent, key.thread, key.session, key.user or "", local(status.queued_at_us), took
