"""Which questions: the options that say it, and the questions they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from turnwright.client.cli.turn_filters import user_wanted
from turnwright.client.client import Client
from turnwright.client.questions import Question
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.transact.inbox import Wanted
from turnwright.journal.transact.listing import Page

OfKind = Annotated[InteractionKind | None, typer.Option("--kind", "-k", help="Only questions of this kind.")]
OfTool = Annotated[str | None, typer.Option("--tool", help="Only about calls of this tool.")]
InState = Annotated[Wanted, typer.Option("--state", help="Where they stand.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say."""

    session: str | None = None
    user: str | None = None
    anonymous: bool = False
    agent: str | None = None
    kind: InteractionKind | None = None
    tool: str | None = None
    state: Wanted = "open"

    @property
    def everything(self) -> bool:
        """Whether no filter is given."""
        return self == Asked()

    async def page(self, client: Client, after: str | None, limit: int) -> Page[Question]:
        """A page of these questions, the oldest first.

        Raises:
            InvalidInput: the options do not go together.
            NotFound: there is no such session.
        """
        user = user_wanted(self.user, anonymous=self.anonymous)
        session = None if self.session is None else client.session(self.user, self.session)
        return await client.inbox(
            session,
            user=user,
            agent=self.agent,
            kind=self.kind,
            tool=self.tool,
            state=self.state,
            after=after,
            limit=limit,
        )
