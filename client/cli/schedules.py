"""`turnwright schedule create|list|show|pause|resume|trigger|delete`: turns that are submitted again and again."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from turnwright.client.cli import plain
from turnwright.client.cli.budgets import (
    BudgetCostUsd,
    BudgetSteps,
    BudgetTokens,
    BudgetToolCalls,
    BudgetWallTime,
    budget_given,
)
from turnwright.client.cli.options import Json, Reason, RequestId, ThreadName, User, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, local
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.journal.commands import Receipt
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD
from turnwright.journal.schedules import CATCH_UP_S, UTC_ZONE, Overlap, Schedule, Tick, Times

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name.")]
Task = Annotated[str, typer.Argument(metavar="TEXT", help="The task of each turn; - reads it from standard input.")]
InSession = Annotated[str, typer.Option("--session", "-s", help="The session's id.")]
ToAgent = Annotated[str, typer.Option("--agent", "-a", help="The agent's name.")]
Cron = Annotated[
    list[str] | None,
    typer.Option("--cron", metavar="CRON", help="Five fields, such as '0 9 * * mon-fri'; may be repeated."),
]
Every = Annotated[
    str | None, typer.Option("--every", metavar="TIME", help="Instead of --cron: such as 90s, 15m, 6h or 1d.")
]
Offset = Annotated[str, typer.Option("--offset", metavar="TIME", help="With --every: so much later each time.")]
Zone = Annotated[str, typer.Option("--timezone", metavar="ZONE", help="Of --cron, such as Europe/Berlin.")]
Start = Annotated[str | None, typer.Option("--start", metavar="TIME", help="Not before: an ISO time with a zone.")]
End = Annotated[str | None, typer.Option("--end", metavar="TIME", help="Not after: an ISO time with a zone.")]
Jitter = Annotated[str, typer.Option("--jitter", metavar="TIME", help="Each time by chance up to so much later.")]
CatchUp = Annotated[
    str, typer.Option("--catch-up", metavar="TIME", help="What could not be done for longer than this is let go.")
]
Overlapping = Annotated[Overlap, typer.Option("--overlap", help="What to do while the thread has a turn.")]
UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
COLUMNS = ("name", "state", "agent", "when", "next", "last")
NEXT_SHOWN = 3


class ScheduleCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("create")(self.create)
        app.command("list")(self.list_)
        app.command("show")(self.show)
        app.command("pause")(self.pause)
        app.command("resume")(self.resume)
        app.command("trigger")(self.trigger)
        app.command("delete")(self.delete)

    def create(  # noqa: PLR0913 - one for each option
        self,
        name: Name,
        task: Task,
        *,
        session: InSession,
        agent: ToAgent,
        thread: ThreadName = MAIN_THREAD,
        user: User = None,
        cron: Cron = None,
        every: Every = None,
        offset: Offset = "0s",
        timezone: Zone = UTC_ZONE,
        start: Start = None,
        end: End = None,
        jitter: Jitter = "0s",
        catch_up: CatchUp = f"{CATCH_UP_S}s",
        overlap: Overlapping = "skip",
        budget_steps: BudgetSteps = None,
        budget_tokens: BudgetTokens = None,
        budget_cost_usd: BudgetCostUsd = None,
        budget_wall_time: BudgetWallTime = None,
        budget_tool_calls: BudgetToolCalls = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Submit a turn again and again. It is accepted once committed, whether or not Temporal is up."""

        async def run(client: Client, screen: Screen) -> None:
            receipt = await client.session(user, session).create_schedule(
                name,
                sys.stdin.read() if task == "-" else task,
                agent=agent,
                thread=thread,
                cron=tuple(cron or ()),
                every_s=None if every is None else seconds(every),
                offset_s=seconds(offset),
                timezone=timezone,
                start_at=start,
                end_at=end,
                jitter_s=seconds(jitter),
                catch_up_s=seconds(catch_up),
                overlap=overlap,
                budget=budget_given(budget_steps, budget_tokens, budget_cost_usd, budget_wall_time, budget_tool_calls),
                **how(reason, request_id),
            )
            screen.show(plain.receipt(receipt), f"schedule {name} is in the journal; the workers tell Temporal of it")

        self._runner.run(run, as_json=as_json)

    def list_(self, *, session: InSession, user: User = None, as_json: Json = False) -> None:
        """List a session's schedules: when each comes next, and what became of its last time."""

        async def run(client: Client, screen: Screen) -> None:
            found = await client.session(user, session).schedules()
            if screen.as_json:
                screen.json({"schedules": [_plain(schedule) for schedule in found]})
                return
            none = "no schedule; `turnwright schedule create` makes one"
            screen.table(COLUMNS, [_row(schedule) for schedule in found], none)

        self._runner.run(run, as_json=as_json)

    def show(self, name: Name, *, session: InSession, user: User = None, as_json: Json = False) -> None:
        """Show a schedule: what it submits, when it comes next, and what became of its last 50 times."""

        async def run(client: Client, screen: Screen) -> None:
            schedule = await client.session(user, session).schedule(name)
            if screen.as_json:
                screen.json(_plain(schedule))
                return
            for line in _lines(schedule):
                screen.line(line)

        self._runner.run(run, as_json=as_json)

    def pause(
        self,
        name: Name,
        *,
        session: InSession,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Take no time of it until it is resumed."""
        self._do(
            lambda of: of.pause_schedule(name, **how(reason, request_id)), user, session, "paused", as_json=as_json
        )

    def resume(
        self,
        name: Name,
        *,
        session: InSession,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Take its times again; those that came meanwhile stay out."""
        self._do(
            lambda of: of.resume_schedule(name, **how(reason, request_id)), user, session, "resumed", as_json=as_json
        )

    def trigger(
        self,
        name: Name,
        *,
        session: InSession,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Submit its turn now, as if its time had come, also while it is paused."""
        self._do(
            lambda of: of.trigger_schedule(name, **how(reason, request_id)), user, session, "triggered", as_json=as_json
        )

    def delete(
        self,
        name: Name,
        *,
        session: InSession,
        user: User = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Let it be no more; the turns it submitted go on."""
        self._do(
            lambda of: of.delete_schedule(name, **how(reason, request_id)), user, session, "deleted", as_json=as_json
        )

    def _do(
        self,
        command: Callable[[Session], Awaitable[Receipt]],
        user: str | None,
        session: str,
        done: str,
        *,
        as_json: bool,
    ) -> None:
        async def run(client: Client, screen: Screen) -> None:
            receipt = await command(client.session(user, session))
            screen.show(plain.receipt(receipt), _done(receipt, done))

        self._runner.run(run, as_json=as_json)


def seconds(text: str) -> int:
    """A time as people write it, such as `90s`, `15m`, `6h`, `1d`.

    Raises:
        InvalidInput: it is none.
    """
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS_S or not (number.isascii() and number.isdecimal()) or len(number) > len(str(2**31)):
        raise InvalidInput(f"a time looks like 90s, 15m, 6h or 1d, not {text!r:.40}")
    return int(number) * UNITS_S[unit]


def _done(receipt: Receipt, done: str) -> str:
    if receipt.code is not None:
        return f"no turn, {receipt.code}: {receipt.reason}"
    return f"accepted as turn {receipt.turn_id}" if receipt.turn_id is not None else done


def _plain(schedule: Schedule) -> dict[str, Any]:
    made = schedule.definition
    return plain.session_key(schedule.session) | {
        "name": schedule.name,
        "state": schedule.state,
        "principal": schedule.principal,
        "created_at": plain.iso(schedule.created_us),
        "definition": None if made is None else made.model_dump(mode="json", exclude_defaults=True),
        "next": [plain.iso(at_us) for at_us in schedule.next_us],
        "looked_at": plain.iso(schedule.looked_us),
        "error": schedule.error,
        "last": [_plain_tick(tick) for tick in schedule.last],
    }


def _plain_tick(tick: Tick) -> dict[str, Any]:
    told = {"due_at": plain.iso(tick.due_us), "at": plain.iso(tick.at_us), "turn_id": tick.turn_id}
    return told | {"code": tick.code, "reason": tick.reason, "by_hand": tick.by_hand}


def _row(schedule: Schedule) -> tuple[str, ...]:
    made = schedule.definition
    last = _told(schedule.last[0]) if schedule.last else ""
    when = "(erased)" if made is None else _when(made.times)
    return schedule.name, schedule.state, "" if made is None else made.agent, when, _next(schedule, 1), last


def _lines(schedule: Schedule) -> list[str]:
    made = schedule.definition
    lines = [f"schedule {schedule.name} of session {schedule.session.session}: {schedule.state}"]
    if made is not None:
        lines += [
            f"submits to {made.agent}, thread {made.thread} (while it has a turn: {made.overlap})",
            f"  {made.input.text}",
            f"when: {_when(made.times)}",
        ]
    lines.append(f"next: {_next(schedule, NEXT_SHOWN)}")
    return [*lines, *(f"{local(tick.due_us)}  {_told(tick)}" for tick in schedule.last)]


def _next(schedule: Schedule, count: int) -> str:
    if schedule.error is not None:
        return schedule.error
    if schedule.state == "paused":
        return "when it is resumed"
    if schedule.looked_us is None:
        return "Temporal was not told yet"
    return ", ".join(local(at_us) for at_us in schedule.next_us[:count]) or "never again"


def _when(times: Times) -> str:
    when = f"every {times.every_s} s" if times.every_s is not None else f"{'; '.join(times.cron)} ({times.timezone})"
    bounds = [f"from {times.start_at}" if times.start_at else "", f"until {times.end_at}" if times.end_at else ""]
    return " ".join([when, *filter(None, bounds)])


def _told(tick: Tick) -> str:
    by_hand = " (by hand)" if tick.by_hand else ""
    return f"{tick.turn_id or f'no turn, {tick.code}: {tick.reason}'}{by_hand}"
