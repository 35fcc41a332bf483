"""`turnwright snapshots show|verify|rebuild|forget`: the states that workers keep outside the journal."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

import typer

from turnwright.client.cli import group
from turnwright.client.cli.options import Forever, Json, User
from turnwright.client.cli.running import REFUSED
from turnwright.client.cli.screen import Screen
from turnwright.client.opening import open_journal
from turnwright.journal.counted import counted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey
from turnwright.journal.snapshots.opening import open_snapshots, snapshots_at
from turnwright.journal.snapshots.port import SnapshotStore
from turnwright.journal.snapshots.projecting import WRONG, Projection, Proof
from turnwright.journal.snapshots.snapshot import Snapshot, SnapshotKey
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import threads_of
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation
from turnwright.worker.logs import configure_logs

OneSession = Annotated[str | None, typer.Option("--session", "-s", help="Only this session.")]
ThisSession = Annotated[str, typer.Option("--session", "-s", help="The session.")]
Thread = Annotated[str | None, typer.Option("--thread", "-t", help="Only this thread.")]
Place = Annotated[str | None, typer.Option("--snapshots", help="Where they are kept; else the setting `snapshots`.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the commands."""
    commands = SnapshotCommands(invocation)
    snapshots = group(app, "snapshots", "Snapshots: agents' states as workers keep them outside the journal.")
    for command in (commands.show, commands.verify, commands.rebuild, commands.forget):
        snapshots.command(command.__name__)(command)


class SnapshotCommands:
    """The commands with the settings they use."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def show(
        self,
        *,
        session: ThisSession,
        thread: Thread = None,
        user: User = None,
        snapshots: Place = None,
        as_json: Json = False,
    ) -> None:
        """Show the snapshots of a session's threads; with --json also the states. Exits with 1 if there are none."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal, store: SnapshotStore) -> int:
            keys = [SnapshotKey(key) async for key in threads_of(journal, self._key(user, session))]
            wanted = [key for key in keys if thread in (None, key.thread.thread)]
            found = [kept for key in wanted if (kept := await store.load(key)) is not None]
            for kept in found if as_json else ():
                screen.json(_plain(kept))
            if not as_json:
                screen.table(COLUMNS, [_row(kept) for kept in found], f"no snapshots of {session} in {store.name}")
            return 0 if found else REFUSED

        self._run(screen, snapshots, run)

    def verify(
        self, *, session: OneSession = None, user: User = None, snapshots: Place = None, as_json: Json = False
    ) -> None:
        """Compare snapshots with the journal. Exits with 1 if one is missing or holds something else."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal, store: SnapshotStore) -> int:
            return await _told_all(screen, "verified", Projection(journal, store).verify(self._key(user, session)))

        self._run(screen, snapshots, run)

    def rebuild(
        self, *, session: OneSession = None, user: User = None, snapshots: Place = None, as_json: Json = False
    ) -> None:
        """Write snapshots anew from the journal, while workers go on. Exits with 1 if a thread cannot be read."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal, store: SnapshotStore) -> int:
            return await _told_all(screen, "rebuilt", Projection(journal, store).rebuild(self._key(user, session)))

        self._run(screen, snapshots, run)

    def forget(self, *, yes: Forever = False, snapshots: Place = None, as_json: Json = False) -> None:
        """Forget what was brought to a place that is given up, so that deletions wait for it no more; --yes."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal, store: SnapshotStore) -> int:
            forgotten = await Projection(journal, store).forget()
            screen.show({"forgotten": forgotten}, f"{counted(forgotten, 'snapshot')} forgotten; what is there stays")
            return 0

        if not yes:
            with told(screen):
                raise InvalidInput("nothing was forgotten; what is there would outlive its sessions: say --yes")
        self._run(screen, snapshots, run, unasked=True)

    def _run(
        self,
        screen: Screen,
        place: str | None,
        command: Callable[[Journal, SnapshotStore], Awaitable[int]],
        *,
        unasked: bool = False,
    ) -> None:
        with told(screen):
            settings = self._invocation.settings(snapshots=place)
            configure_logs(settings.log_format, "error", sys.stderr)
            if settings.snapshots is None:
                raise InvalidInput("say where snapshots are kept: --snapshots URL, or the setting `snapshots`")
            code = asyncio.run(_opened(settings.journal_url, settings.snapshots, command, unasked=unasked))
        if code:
            raise typer.Exit(code)

    def _key(self, user: str | None, session: str | None) -> SessionKey | None:
        if session is None:
            if user is not None:
                raise InvalidInput("--user goes with --session")
            return None
        return SessionKey(self._invocation.settings().tenant, user, session).checked()


async def _opened(
    journal_url: str,
    place: str,
    command: Callable[[Journal, SnapshotStore], Awaitable[int]],
    *,
    unasked: bool,
) -> int:
    """`unasked`: the place need not answer."""
    journal = await open_journal(journal_url)
    try:
        if unasked:
            return await command(journal, snapshots_at(place))
        async with open_snapshots(place) as store:
            return await command(journal, store)
    finally:
        await journal.close()


async def _told_all(screen: Screen, done: str, proofs: AsyncIterator[Proof]) -> int:
    counts: dict[str, int] = {}
    async for proof in proofs:
        counts[proof.finding] = counts.get(proof.finding, 0) + 1
        if proof.finding in WRONG:
            of = proof.key.canonical
            screen.show(
                {"finding": {"key": list(proof.key.parts), "finding": proof.finding, "detail": proof.detail}},
                f"{proof.finding}: {of}: {proof.detail}",
            )
    wrong = sum(counts.get(finding, 0) for finding in WRONG)
    behind = f", {counts['behind']} of an earlier entry" if counts.get("behind") else ""
    good = counted(sum(counts.values()) - wrong, "snapshot")
    screen.show({done: counts}, f"{done}: {good} as the journal says{behind}; {wrong} wrong")
    return REFUSED if wrong else 0


COLUMNS = ("agent", "thread", "entry", "version", "bytes")


def _row(kept: Snapshot) -> tuple[str, ...]:
    key = kept.key.thread
    return key.agent, key.thread, str(kept.as_of_seq), str(kept.version), f"{len(kept.payload):,}"


def _plain(kept: Snapshot) -> dict[str, Any]:
    return {
        "key": list(kept.key.parts),
        "as_of_seq": kept.as_of_seq,
        "version": kept.version,
        "place": kept.place,
        "state": kept.value,
    }
