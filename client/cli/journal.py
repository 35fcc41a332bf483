"""`turnwright journal tail|show|state|blob|erase`: what happened, entry by entry, and what the agent knew."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from turnwright.client.cli import plain, telling
from turnwright.client.cli.options import (
    Agent,
    AtSeq,
    Forever,
    Json,
    Limit,
    Reason,
    RequestId,
    SessionName,
    ThreadName,
    User,
    how,
    nothing_erased,
)
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.states import show_state
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.journal.ids import MAIN_THREAD
from turnwright.journal.transact.reading import Located

AfterPosition = Annotated[int | None, typer.Option("--after", min=0, help="Begin behind this position.")]
AfterSeq = Annotated[int, typer.Option("--after", min=0, help="Begin behind this entry.")]
Blob = Annotated[str, typer.Argument(metavar="BLOB", help="Its SHA-256, as it stands in the entry.")]
To = Annotated[Path, typer.Option("--to", dir_okay=False, help="The file; what it holds is replaced.")]
Seq = Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The entry's number in its thread.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens next, until interrupted.")]


class JournalCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.tail, self.show, self.state, self.blob, self.erase):
            app.command(command.__name__)(command)

    def tail(
        self,
        session: SessionName,
        *,
        user: User = None,
        after: AfterPosition = None,
        limit: Limit = 20,
        follow: Follow = False,
        as_json: Json = False,
    ) -> None:
        """Show the last of what happened in a session, on all of its threads; with --after, what came then."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session)
            behind = await _last_position(found, limit) if after is None else after
            if follow:
                async for located in found.follow(behind):
                    _show(located, screen)
                return
            for located in await found.history(behind, limit):
                _show(located, screen)

        self._runner.run(run, as_json=as_json)

    def show(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        after: AfterSeq = 0,
        limit: Limit = 50,
        as_json: Json = False,
    ) -> None:
        """Show a thread's entries, whole."""

        async def run(client: Client, screen: Screen) -> None:
            entries = await client.session(user, session).thread(agent, thread).history(after, limit)
            for entry in entries:
                if screen.as_json:
                    screen.json(plain.entry(entry))
                    continue
                screen.line(f"{entry.seq:>6}  {telling.tell(entry)}")
                told = entry.payload.model_dump(mode="json", exclude_defaults=True)
                screen.line(json.dumps(told, ensure_ascii=False, indent=2), style="dim")
            if len(entries) == limit:
                screen.note(f"more: --after {entries[-1].seq}")

        self._runner.run(run, as_json=as_json)

    def state(
        self,
        session: SessionName,
        agent: Agent,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        at: AtSeq = None,
        as_json: Json = False,
    ) -> None:
        """Show what an agent knows on a thread, now or as of an entry."""

        async def run(client: Client, screen: Screen) -> None:
            state = await client.session(user, session).thread(agent, thread).state(at)
            if screen.as_json:
                screen.json(state.model_dump(mode="json"))
            else:
                show_state(state, screen)

        self._runner.run(run, as_json=as_json)

    def blob(self, session: SessionName, blob: Blob, *, to: To, user: User = None, as_json: Json = False) -> None:
        """Write the bytes of a picture or file that an entry names by its `blob` to a file."""

        async def run(client: Client, screen: Screen) -> None:
            read = await client.session(user, session).blob(blob)
            await asyncio.to_thread(to.write_bytes, read)
            screen.show({"file": str(to), "bytes": len(read)}, f"{len(read):,} bytes are in {to}")

        self._runner.run(run, as_json=as_json)

    def erase(  # noqa: PLR0913 - one for each option
        self,
        session: SessionName,
        agent: Agent,
        seq: Seq,
        *,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        yes: Forever = False,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Erase the content of an entry for good; say --yes. That it was there stays, and the chain still verifies."""

        async def run(client: Client, screen: Screen) -> None:
            found = client.session(user, session).thread(agent, thread)
            if not yes:
                shown = "".join(f": {telling.tell(entry)}" for entry in await found.history(seq - 1, 1))
                raise nothing_erased(seq, shown)
            receipt = await found.erase(seq, **how(reason, request_id))
            screen.show(plain.receipt(receipt), f"accepted; entry {seq} is erased")

        self._runner.run(run, as_json=as_json)


async def _last_position(session: Session, count: int) -> int:
    """The position behind which the last `count` entries stand."""
    return max(0, (await session.status()).last_position - count)


def _show(located: Located, screen: Screen) -> None:
    entry = located.entry
    if screen.as_json:
        screen.json(plain.located(located))
        return
    where = f"{located.thread.agent}/{located.thread.thread}" if located.thread.agent else "session"
    screen.line(f"{entry.position:>6}  {where:<20} {telling.tell(entry)}")
