"""`turnwright recover`: bring back by hand every thread that nobody carries on, and say why for each."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.running import REFUSED, UNAVAILABLE
from turnwright.client.cli.screen import Screen
from turnwright.client.opening import open_journal
from turnwright.journal.counted import counted
from turnwright.journal.store import Journal
from turnwright.journal.transact.sweeping import Broken
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation, with_dev_address
from turnwright.worker.logs import configure_logs
from turnwright.worker.settings import Settings
from turnwright.worker.terms import terms_of

if TYPE_CHECKING:
    from temporalio.client import Client

    from turnwright.worker.recovery import Case, Recovery, Revived
    from turnwright.worker.rousing import TemporalRouser

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
NewIncarnation = Annotated[
    bool,
    typer.Option("--new-incarnation", help="First give the journal a new id: after it was put back to a backup."),
]

_STAYS = "what it runs under the old id stays until a worker, or `turnwright recover`, reaches it"
_SAID = {"gone": "has no workflow", "under_way": "has something under way", "wedged": "stands still"}
_DONE = {"woken": "woken", "thread_terminated": "thread's workflow ended", "turn_restarted": "turn started again"}

_BESIDE = {
    "taken_in": ("thread", "with submits of their callers' transactions, which are queued now"),
    "erased": ("piece", "of deleted sessions erased"),
}


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def recover(*, dry_run: DryRun = False, new_incarnation: NewIncarnation = False, as_json: Json = False) -> None:
        """Bring back every thread with work that nobody carries on. Workers do that by themselves within seconds."""
        screen = Screen(as_json=as_json)
        with told(screen):
            settings = with_dev_address(invocation.settings())
            configure_logs(settings.log_format, "error", sys.stderr)
            command = _Recover(settings, screen, dry_run=dry_run)
            code = asyncio.run(command.run(command.renewed if new_incarnation else command.recovered))
        if code:
            raise typer.Exit(code)


class _Recover:
    """One call of the command. What only it needs of Temporal's SDK is loaded when it runs."""

    def __init__(self, settings: Settings, screen: Screen, *, dry_run: bool) -> None:
        self._settings = settings
        self._screen = screen
        self._dry_run = dry_run

    async def run(self, command: Callable[[Journal], Awaitable[int]]) -> int:
        journal = await open_journal(self._settings.journal_url)
        try:
            return await command(journal)
        finally:
            await journal.close()

    async def renewed(self, journal: Journal) -> int:
        """A new incarnation, then recovery under its id."""
        from turnwright.worker.incarnation import begin_incarnation, check_unserved  # noqa: PLC0415 - loads the SDK
        from turnwright.workflows.engine import TemporalUnreachable  # noqa: PLC0415 - loads the SDK

        if self._dry_run:
            journal_id = await check_unserved(journal)
            told = f"the journal {journal_id} would get a new id, and its workflows in Temporal be ended"
            self._screen.show({"journal_id": journal_id, "would_be_renewed": True}, told)
            return await self.recovered(journal)
        incarnation = await begin_incarnation(journal)
        told = f"the journal {incarnation.earlier} is {incarnation.now} from now on"
        self._screen.show({"earlier": incarnation.earlier, "journal_id": incarnation.now}, told)
        try:
            return await self.recovered(journal)
        except TemporalUnreachable as error:
            self._screen.note(f"{error}; {_STAYS}")
            return 0

    async def recovered(self, journal: Journal) -> int:
        """Tell of each thread that nobody carries on, and bring it back unless it is a dry run."""
        from turnwright.worker.recovery import Recovery  # noqa: PLC0415 - loads the SDK

        journal.terms = terms_of(self._settings)
        rouser = await self._rouser(journal)
        totals = _Totals()
        if rouser is not None:
            totals.left += not await self._end_earlier(rouser.waker.client, journal)
        recovery = Recovery(journal, rouser, self._settings.stall_s)
        if not self._dry_run:
            await self._take_in(recovery, totals)
        async for case in recovery.find():
            await self._bring_back(recovery, case, totals)
        totals.erased = 0 if self._dry_run else await recovery.finish_deletions()
        self._sum_up(totals)
        if recovery.away is not None and not self._dry_run:
            self._screen.note(f"Temporal does not answer any more: {recovery.away}")
            return UNAVAILABLE
        return REFUSED if totals.unreadable or totals.left else 0

    async def _take_in(self, recovery: Recovery, totals: _Totals) -> None:
        taken = await recovery.take_in()
        totals.taken_in = taken.threads
        totals.left += len(taken.left)
        for thread, error in taken.left.items():
            self._screen.show({"not_taken_in": thread, "error": error}, f"not taken in: {thread}: {error}")

    async def _bring_back(self, recovery: Recovery, case: Case | Broken, totals: _Totals) -> None:
        if isinstance(case, Broken):
            totals.unreadable += 1
            self._screen.show({"unreadable": case.key, "error": case.error}, f"unreadable: {case.key}: {case.error}")
            return
        totals.found += 1
        if self._dry_run:
            self._screen.show(_told(case), _line(case))
            return
        revived = await recovery.recover(case)
        totals.left += revived.error is not None
        totals.recovered += revived.error is None
        self._screen.show(_told(case, revived), _line(case, revived))

    async def _end_earlier(self, client: Client, journal: Journal) -> bool:
        """Whether what Temporal holds of earlier ids is ended; it may answer everything but what it holds."""
        from turnwright.worker.incarnation import check_engine, end_earlier  # noqa: PLC0415 - loads the SDK
        from turnwright.workflows.engine import TemporalUnreachable  # noqa: PLC0415 - loads the SDK

        engine = await check_engine(client, journal)
        try:
            ended = 0 if self._dry_run else await end_earlier(client, engine, journal.driver)
        except TemporalUnreachable as error:
            self._screen.note(f"{error}; {_STAYS}")
            return False
        if ended:
            told = f"workflows of the journal's earlier ids ended in Temporal: {ended:,}"
            self._screen.show({"workflows_ended": ended}, told)
        return True

    async def _rouser(self, journal: Journal) -> TemporalRouser | None:
        """A dry run tells what it can without Temporal."""
        from turnwright.worker.rousing import TemporalRouser  # noqa: PLC0415 - loads the SDK
        from turnwright.worker.temporal_client import connect  # noqa: PLC0415 - loads the SDK
        from turnwright.workflows.engine import TemporalUnreachable  # noqa: PLC0415 - loads the SDK
        from turnwright.workflows.ids import default_task_queue  # noqa: PLC0415 - loads the SDK
        from turnwright.workflows.waking import Waker  # noqa: PLC0415 - loads the SDK

        try:
            client = await connect(self._settings)
        except TemporalUnreachable as error:
            if not self._dry_run:
                raise
            self._screen.note(str(error))
            return None
        journal_id = await journal.journal_id()
        queue = self._settings.task_queue or default_task_queue(journal_id)
        return TemporalRouser(Waker(client, journal_id, queue, self._settings.workflow_task_timeout_s))

    def _sum_up(self, totals: _Totals) -> None:
        verb = "would be brought back" if self._dry_run else "brought back"
        count = totals.found if self._dry_run else totals.recovered
        told = f"{counted(count, 'thread')} {verb}" if totals.found else "every thread with work is carried on"
        told += f"; {totals.left:,} left undone (see above)" if totals.left else ""
        told += (
            f"; {totals.unreadable:,} cannot be read (see above; `turnwright journal verify` tells of damage)"
            if totals.unreadable
            else ""
        )
        for what, (noun, rest) in _BESIDE.items():
            number = getattr(totals, what)
            told += f"; {counted(number, noun)} {rest}" if number else ""
        self._screen.show(asdict(totals), told)


@dataclass(slots=True)
class _Totals:
    """`left`: what something stood against, so that it is to be done another time."""

    found: int = 0
    recovered: int = 0
    left: int = 0
    unreadable: int = 0
    taken_in: int = 0
    erased: int = 0


def _told(case: Case, revived: Revived | None = None) -> dict[str, object]:
    suspect = case.suspect
    return {
        "thread": suspect.key.canonical,
        "turn": suspect.turn_id,
        "found": suspect.why,
        "reason": case.reason,
        "why": case.why,
        "temporal": case.temporal,
        "done": [] if revived is None else list(revived.steps),
        "error": None if revived is None else revived.error,
    }


def _line(case: Case, revived: Revived | None = None) -> str:
    key = case.suspect.key
    temporal = "not asked" if case.temporal is None else ", ".join(f"{n} {_SAID[c]}" for n, c in case.temporal.items())
    turn = f" {case.suspect.turn_id}" if case.suspect.turn_id else ""
    told = f"{key.session} {key.agent}/{key.thread}{turn}: {case.reason}. {case.why} Temporal: {temporal}."
    if revived is None:
        return told
    if revived.error is not None:
        return f"{told} Not brought back: {revived.error}."
    return f"{told} Done: {', '.join(_DONE[step] for step in revived.steps)}."
