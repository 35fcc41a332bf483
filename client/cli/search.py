"""`turnwright session search`: what people and agents said."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.options import After, Json
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, local
from turnwright.client.cli.turn_filters import Anonymous, InSession, OfUser, user_wanted
from turnwright.client.client import Client
from turnwright.journal.transact.searching import HITS_MAX, SearchHit

Words = Annotated[
    list[str],
    typer.Argument(metavar="WORDS", help='What to search for: words, "phrases", -without (behind --), begin*.'),
]
HitLimit = Annotated[int, typer.Option("--limit", "-n", min=1, max=HITS_MAX, help="How many at most.")]
FOUND = "bold"


class SearchCommand:
    """The command with the runner it uses."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add it to a group."""
        app.command()(self.search)

    def search(
        self,
        words: Words,
        *,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        limit: HitLimit = 20,
        after: After = None,
        as_json: Json = False,
    ) -> None:
        """Search in what people and agents said and in titles, the best first."""

        async def run(client: Client, screen: Screen) -> None:
            of = None if session is None else client.session(user, session)
            whose = user_wanted(user, anonymous=anonymous)
            page = await client.search(" ".join(words), session=of, user=whose, after=after, limit=limit)
            if screen.as_json:
                screen.json({"hits": [plain.search_hit(hit) for hit in page.items], "next": page.next})
                return
            for hit in page.items:
                screen.line(_where(hit), style="dim")
                screen.marked([("  ", ""), *((part.text, FOUND if part.found else "") for part in hit.snippet)])
            if not page.items:
                screen.note("nothing was found")
            if page.next is not None:
                screen.note(f"more: --after {page.next}")

        self._runner.run(run, as_json=as_json)


def _where(hit: SearchHit) -> str:
    """Session, thread and entry, who said it and when."""
    key = hit.key
    whose = "anonymous" if key.user is None else key.user
    thread = "title" if key.is_session_log else f"{key.agent}/{key.thread} {hit.seq} {hit.role}"
    return f"{key.session} ({whose})  {thread}  {local(hit.at_us)}"
