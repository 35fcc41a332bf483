"""Which turns: the options that say it, and the turns they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Annotated

import typer

from turnwright.client.client import Client
from turnwright.journal.errors import InvalidInput
from turnwright.journal.shown import PHASES, ShownStatus
from turnwright.journal.transact.listing import Page, TurnSeen
from turnwright.journal.turn_status import Phase

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the options say."""

    session: str | None = None
    user: str | None = None
    anonymous: bool = False
    agent: str | None = None
    thread: str | None = None
    status: ShownStatus | None = None
    phases: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether they leave out nothing."""
        return self == Chosen()

    async def page(self, client: Client, after: str | None, limit: int) -> Page[TurnSeen]:
        """A page of these turns, newest first.

        Raises:
            InvalidInput: the options do not go together.
            NotFound: there is no such session.
        """
        if self.thread is not None and self.session is None:
            raise InvalidInput("--thread goes with --session")
        user = user_wanted(self.user, anonymous=self.anonymous)
        return await client.turns(
            None if self.session is None else client.session(self.user, self.session),
            user=user,
            agent=self.agent,
            thread=self.thread,
            phases=phases_wanted(self.phases),
            status=self.status,
            after=after,
            limit=limit,
        )

    async def collect(
        self, client: Client, limit: int, wanted: Callable[[TurnSeen], bool]
    ) -> tuple[list[TurnSeen], bool]:
        """The first of these turns that are wanted, and whether there may be more."""
        found: list[TurnSeen] = []
        after: str | None = None
        while True:
            page = await self.page(client, after, limit)
            matching = [seen for seen in page.items if wanted(seen)]
            found, after = found + matching, page.next
            if len(found) > limit or after is None:
                return found[:limit], len(found) > limit


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
