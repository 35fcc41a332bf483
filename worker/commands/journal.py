"""`turnwright journal verify|rebuild|reindex|seal|migrate|stats`: the journal's upkeep."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status

from turnwright.client.cli import group
from turnwright.client.cli.options import Json, User
from turnwright.client.cli.running import REFUSED
from turnwright.client.cli.screen import Screen, local
from turnwright.client.opening import open_journal
from turnwright.journal import store_sealing, store_search, store_verify
from turnwright.journal.counted import counted
from turnwright.journal.driver import Presence
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.walking import Finding
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation
from turnwright.worker.logs import configure_logs

PIECES_INDEXED_MAX = 50
Anew = Annotated[bool, typer.Option("--all", help="Also what is indexed; it can be found meanwhile.")]
OneSession = Annotated[str | None, typer.Option("--session", "-s", help="Only this session.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the commands to the group of the journal."""
    commands = JournalUpkeep(invocation)
    upkeep = group(app, "journal", "The journal: what happened, and its upkeep.")
    for command in (
        commands.verify,
        commands.rebuild,
        commands.reindex,
        commands.seal,
        commands.migrate,
        commands.stats,
    ):
        upkeep.command(command.__name__)(command)


class JournalUpkeep:
    """The commands with the settings they use."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def verify(self, *, session: OneSession = None, user: User = None, as_json: Json = False) -> None:
        """Prove hash chains, numbers, controls, turns, requests, blobs and checkpoints. Exits with 1 if one fails.

        Of a sealed journal whose URL names no keys: chains and numbers.
        """
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            counts = {"proven": 0, "entries": 0, "erased": 0, "sealed": 0, "findings": 0}
            with _status("verifying", screen) as status:
                async for proof in store_verify.verify(journal, self._key(user, session)):
                    for finding in proof.findings:
                        _tell(screen, finding)
                    found = (proof.of != "strays", proof.entries, proof.erased, proof.sealed, len(proof.findings))
                    counts = {name: n + more for (name, n), more in zip(counts.items(), found, strict=True)}
                    status.update(f"verifying: {counts['entries']:,} entries")
            screen.show({"verified": counts}, _verdict(counts))
            return REFUSED if counts["findings"] else 0

        self._run(screen, run, keyless=True)

    def rebuild(self, *, session: OneSession = None, user: User = None, as_json: Json = False) -> None:
        """Write controls, turns and checkpoints anew from the entries. Exits with 1 if something had to be left."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            done = kept = 0
            with _status("rebuilding", screen) as status:
                async for rebuilt in store_verify.rebuild(journal, self._key(user, session)):
                    kept += bool(rebuilt.kept)
                    done += not rebuilt.kept
                    if rebuilt.kept:
                        screen.show({"kept": asdict(rebuilt)}, f"left as it is: {rebuilt.where}: {rebuilt.kept}")
                    status.update(f"rebuilding: {done:,} threads and sessions")
            told = f"{done:,} threads and sessions rebuilt, {kept:,} left as they are"
            screen.show({"rebuilt": done, "kept": kept}, told)
            return REFUSED if kept else 0

        self._run(screen, run)

    def reindex(self, *, anew: Anew = False, as_json: Json = False) -> None:
        """Index what the search does not find yet, while workers go on; one that was ended goes on where it stopped."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            if anew:
                await store_search.forget_index(journal.driver)
            done = after = 0
            with _status("indexing", screen) as status:
                while True:
                    some, after = await store_search.index_pieces(journal.driver, after, PIECES_INDEXED_MAX)
                    done += some
                    status.update(f"indexing: {done:,} pieces of threads")
                    if not after and some < PIECES_INDEXED_MAX:
                        break
            told = f"everything can be found; {counted(done, 'piece')} of threads had to be indexed"
            screen.show({"indexed": done}, told)
            return 0

        self._run(screen, run)

    def seal(self, *, as_json: Json = False) -> None:
        """Seal what was written before the journal's URL named keys, and wrap data keys by the newest of them.

        Exits with 1 if something had to be left.
        """
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            sessions = entries = kept = 0
            with _status("sealing", screen) as status:
                async for sealed in store_sealing.seal(journal):
                    kept += bool(sealed.kept)
                    sessions, entries = sessions + (not sealed.kept), entries + sealed.entries
                    if sealed.kept:
                        where = sealed.key.canonical
                        screen.show(
                            {"kept": {"where": where, "kept": sealed.kept}}, f"left as it is: {where}: {sealed.kept}"
                        )
                    status.update(f"sealing: {counted(sessions, 'session')}, {entries:,} entries")
            wrapped = await store_sealing.wrap_anew(journal.driver)
            in_use = await store_sealing.keys_in_use(journal.driver)
            done = f"sealed {counted(sessions, 'session')} of {entries:,} entries"
            screen.show(
                {"sessions": sessions, "entries": entries, "wrapped": wrapped, "keys": dict(in_use)},
                f"{done}, wrapped {counted(wrapped, 'data key')} anew; keys in use: {', '.join(in_use) or 'none'}",
            )
            return REFUSED if kept else 0

        self._run(screen, run)

    def migrate(self, *, as_json: Json = False) -> None:
        """Make the journal, or bring its tables up to this version."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            version, journal_id = await journal.driver.schema_version(), await journal.journal_id()
            screen.show(
                {"schema_version": version, "journal_id": journal_id},
                f"the journal {journal_id} is at version {version} of its tables",
            )
            return 0

        self._run(screen, run, migrate=True)

    def stats(self, *, as_json: Json = False) -> None:
        """Show how much is in the journal, and which workers are there."""
        screen = Screen(as_json=as_json)

        async def run(journal: Journal) -> int:
            found = await store_verify.statistics(journal)
            workers = [_worker(seen) for seen in await journal.driver.presences()]
            if screen.as_json:
                screen.json(asdict(found) | {"workers": workers})
                return 0
            screen.facts([("journal", found.journal_id)])
            screen.facts([(name.replace("_", " "), _readable(name, n)) for name, n in found.counts.items()])
            screen.table(["turns", ""], [[phase, f"{n:,}"] for phase, n in found.turns.items()], "no turns")
            columns = ["worker", "presence", "state", "version", "pid", "started", "agents"]
            screen.table(columns, [_words(worker, columns) for worker in workers], "no workers")
            return 0

        self._run(screen, run, keyless=True)

    def _run(
        self,
        screen: Screen,
        command: Callable[[Journal], Awaitable[int]],
        *,
        migrate: bool = False,
        keyless: bool = False,
    ) -> None:
        with told(screen):
            settings = self._invocation.settings()
            configure_logs(settings.log_format, "error", sys.stderr)
            if migrate and settings.journal_file is not None:
                settings.journal_file.parent.mkdir(parents=True, exist_ok=True)
            code = asyncio.run(_opened(settings.journal_url, command, migrate=migrate, keyless=keyless))
        if code:
            raise typer.Exit(code)

    def _key(self, user: str | None, session: str | None) -> SessionKey | None:
        if session is None:
            if user is not None:
                raise InvalidInput("--user goes with --session")
            return None
        return SessionKey(self._invocation.settings().tenant, user, session).checked()


async def _opened(url: str, command: Callable[[Journal], Awaitable[int]], *, migrate: bool, keyless: bool) -> int:
    journal = await open_journal(url, migrate=migrate, keyless=keyless)
    try:
        return await command(journal)
    finally:
        await journal.close()


def _status(what: str, screen: Screen) -> Status:
    """A line that says how far it has come, if somebody watches."""
    return Console(stderr=True, quiet=screen.as_json).status(what)


def _worker(seen: Presence) -> dict[str, Any]:
    info = seen.info
    return {
        "worker": info.get("label"),
        "presence": seen.presence_id,  # as entries and `turn why` name it
        "state": seen.liveness.state,
        "version": info.get("version"),
        "pid": info.get("pid"),
        "started": info.get("started"),
        "agents": list(info.get("agents", ())),
        "tools": info.get("tools"),
    }


def _words(worker: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """A row for people: with the time in this machine's zone."""
    started = worker["started"]
    at_us = None if started is None else round(datetime.fromisoformat(started).timestamp() * SECOND_US)
    told = {**worker, "started": local(at_us), "agents": ", ".join(worker["agents"])}
    return ["" if told[name] is None else str(told[name]) for name in columns]


def _tell(screen: Screen, finding: Finding) -> None:
    place = finding.where if finding.seq is None else f"{finding.where} seq {finding.seq}"
    screen.show({"finding": asdict(finding)}, f"{finding.check}: {place}: {finding.problem}")


def _verdict(counts: dict[str, int]) -> str:
    erased = f", {counts['erased']} erased" if counts["erased"] else ""
    erased += f", {counts['sealed']} sealed" if counts["sealed"] else ""
    proven = f"{counts['entries']:,} entries{erased} in {counts['proven']:,} threads, logs and sessions"
    if counts["findings"]:
        return f"{proven}: {counts['findings']:,} not as written"
    return (
        f"{proven}: all proven" if not counts["sealed"] else f"{proven}: chains and numbers proven, the rest needs keys"
    )


def _readable(name: str, number: int) -> str:
    return f"{number / 1_000_000:,.1f} MB" if name.endswith("_bytes") else f"{number:,}"
